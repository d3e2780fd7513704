"""What a password has to be: long, and not what everybody tries first. No letters, digits or signs are asked for."""

import re
import unicodedata
from collections.abc import Iterable

from fe.ecf.texts import LocalizedError, Text

SHORTEST = 12
LONGEST = 200
#: So many characters have to remain once what everybody tries is taken out, and so many different ones.
_REMAINING = 6
_DIFFERENT = 4

#: How people dress letters up; whoever guesses undresses them.
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
    """See that a new password is not one of the first that somebody would try; `about` is what is known of the person.

    Raises BadPassword.
    """
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
                "This password is among the first that somebody would try: it is common, or made of a name or a date.",
                "Esta contraseña es de las primeras que alguien probaría: es común o está hecha de un nombre o una "
                "fecha.",
            )
        )


def _parts(text: str) -> list[str]:
    """The words in what is known of a person that could stand in a password."""
    folded = _LETTERS.sub(" ", _folded(text)).translate(_PLAIN).split()
    return [part for part in folded if len(part) > 2]


def _is_obvious(reading: str, own: Iterable[str]) -> bool:
    """Whether next to nothing is left of it without what everybody tries."""
    for word in sorted({*_COMMON, *own}, key=len, reverse=True):
        reading = reading.replace(word, "")
    rest = _REPEATED.sub(r"\1", _DIGITS.sub("", reading))
    return len(rest) < _REMAINING or len(set(rest)) < _DIFFERENT


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))
