"""A made-up register of taxpayers, in the form of the authority's ZIP."""

import io
import zipfile
from collections.abc import Iterable


def line_of(rnc: str, name: str, trade_name: str = "", status: str = "ACTIVO", regime: str = "NORMAL") -> str:
    return f"{rnc}|{name}|{trade_name}|VENTA AL POR MENOR||||  |01/02/2003|{status}|{regime}"


def zip_of(lines: Iterable[str], name: str = "TMP/DGII_RNC.TXT", *, other: bool = False) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, "".join(f"{line}\r\n" for line in lines).encode("cp1252"))
        if other:
            archive.writestr("other.txt", b"")
    return made.getvalue()


#: Made-up names with the characters of real ones: accents, Ñ, quotes, tabs, backslashes.
LINES = (
    line_of("131880657", "CLIENTE DE PRUEBA  SRL", "EL CLIENTE"),
    line_of("101000001", 'FERRETERIA "LA ÑAPA" & HIJOS, S.A.', status="SUSPENDIDO"),
    line_of("00100000009", "ANA\tNÚÑEZ \\N"),
    *(line_of(f"4{number:08}", f"EMPRESA {number}") for number in range(200)),
)
