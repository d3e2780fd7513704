"""Mail addresses: the plain form that goes into a header and to a relay, and nothing else. Pure."""

import re
from typing import NewType

import idna

from fe.ecf.texts import LocalizedError, Text

#: An address in its plain form: ASCII, without name, comment, quotes or blanks. It is safe in a header.
MailAddress = NewType("MailAddress", str)

#: RFC 5321: of the whole, and of the part before the @.
LONGEST = 254
_LONGEST_LOCAL = 64

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL = re.compile(rf"{_ATOM}(\.{_ATOM})*")
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})+")

_CONTROL = Text(
    "must be an e-mail address without line breaks or other control characters: character {place} is one",
    "debe ser un correo electrónico sin saltos de línea ni otros caracteres de control: el carácter {place} es uno",
)
_FORM = Text(
    "must be one e-mail address such as compras@cliente.com.do",
    "debe ser un solo correo electrónico, como compras@cliente.com.do",
)
_LONG = Text(
    "must be an e-mail address of at most {limit} characters",
    "debe ser un correo electrónico de {limit} caracteres como máximo",
)


class BadAddress(LocalizedError):
    """The text is not one plain mail address."""


def parse_address(text: str) -> MailAddress:
    """Return an address in its plain form; a domain outside ASCII becomes its IDNA form. Raises BadAddress."""
    for place, character in enumerate(text, 1):
        if not character.isprintable():
            raise BadAddress(_CONTROL.fill(place=place))
    if len(text) > LONGEST:
        raise BadAddress(_LONG.fill(limit=LONGEST))
    local, _, domain = text.rpartition("@")
    if len(local) > _LONGEST_LOCAL or not _LOCAL.fullmatch(local):
        raise BadAddress(_FORM)
    if not domain.isascii():
        try:
            domain = idna.encode(domain, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            raise BadAddress(_FORM) from None
    if not _DOMAIN.fullmatch(domain) or len(local) + 1 + len(domain) > LONGEST:
        raise BadAddress(_FORM)
    return MailAddress(f"{local}@{domain}")


def domain_of(address: MailAddress) -> str:
    """Return the domain of an address, in small letters."""
    return address.rpartition("@")[2].lower()
