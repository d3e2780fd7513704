"""Password policy: long and not common. No rules about letters, digits or signs."""

import re
import unicodedata
from collections.abc import Iterable

from fe.ecf.texts import LocalizedError, Text

SHORTEST = 12
LONGEST = 200
#: Characters, and distinct characters, that must remain once common parts are removed.
_REMAINING = 6
_DIFFERENT = 4

#: Common substitutions of letters, which attackers try too.
_PLAIN = str.maketrans({"@": "a", "4": "a", "3": "e", "1": "i", "!": "i", "0": "o", "$": "s", "5": "s", "7": "t"})

#: Words, names and rows of keys that passwords are made of, here and elsewhere; as they are undressed.
_COMMON = (
    *("password", "passwort", "contrasena", "contrasenia", "clave", "secreto", "secret", "letmein", "welcome"),
    *("bienvenido", "bienvenida", "administrador", "administrator", "admin", "usuario", "user", "login", "acceso"),
    *("qwertyuiop", "qwertyui", "qwerty", "asdfghjkl", "asdfgh", "zxcvbnm", "zxcvbn", "qazwsx", "iqaz", "2wsx"),
    *("abcdefghijklmnopqrstuvwxyz", "abcdefgh", "abcdef", "abcd", "iloveyou", "teamo", "tequiero", "princesa"),
    *("princess", "dragon", "monkey", "football", "futbol", "baseball", "beisbol", "superman", "batman", "sunshine"),
    *("master", "shadow", "michael", "jesus", "jesucristo", "diosesamor", "dios", "amor", "familia", "mama", "papa"),
    *("republica", "dominicana", "dominicano", "dominican", "santodomingo", "santiago", "quisqueya", "licey"),
    *("aguilas", "escogido", "presidente", "comprobante", "factura", "facturacion", "electronica", "electronico"),
    *("impuestos", "internos", "dgii", "empresa", "negocio", "verano", "invierno", "primavera", "enero", "febrero"),
    *("marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"),
    *("summer", "winter", "spring", "autumn", "hello", "hola", "prueba", "test", "demo", "changeme", "cambiame"),
    *("default", "temporal", "temporary", "google", "facebook", "microsoft", "windows", "starwars", "pokemon"),
)
#: Any run of digits, and any character again and again.
_DIGITS = re.compile(r"[0-9]+")
_REPEATED = re.compile(r"(.+?)\1+")
_LETTERS = re.compile(r"[^a-z0-9]+")


class BadPassword(LocalizedError):
    """A password that may not be chosen; the message says why."""


def require_good(password: str, about: Iterable[str]) -> None:
    """Reject a common password; `about` holds words about the person. Raises BadPassword."""
    if len(password) < SHORTEST:
        raise BadPassword(
            Text(
                f"The password needs at least {SHORTEST} characters; a few words in a row are easy to remember.",
                f"La contraseña necesita al menos {SHORTEST} caracteres; varias palabras seguidas se recuerdan bien.",
            )
        )
    if len(password) > LONGEST:
        raise BadPassword(
            Text(
                f"The password may have at most {LONGEST} characters.",
                f"La contraseña puede tener como máximo {LONGEST} caracteres.",
            )
        )
    own = [part for text in about for part in _parts(text)]
    folded = _folded(password)
    readings = (_DIGITS.sub("", folded).translate(_PLAIN), folded.translate(_PLAIN))
    if any(_is_obvious(reading, own) for reading in readings):
        raise BadPassword(
            Text(
                "This password is easy to guess: it is common, or made of a name or a date.",
                "Esta contraseña es fácil de adivinar: es común o está hecha de un nombre o una fecha.",
            )
        )


def _parts(text: str) -> list[str]:
    """Return words about a person that could appear in a password."""
    folded = _LETTERS.sub(" ", _folded(text)).translate(_PLAIN).split()
    return [part for part in folded if len(part) > 2]


def _is_obvious(reading: str, own: Iterable[str]) -> bool:
    """Return whether next to nothing remains without common parts."""
    for word in sorted({*_COMMON, *own}, key=len, reverse=True):
        reading = reading.replace(word, "")
    rest = _REPEATED.sub(r"\1", _DIGITS.sub("", reading))
    return len(rest) < _REMAINING or len(set(rest)) < _DIFFERENT


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))
