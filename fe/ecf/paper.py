"""Numbers of series B, which receipts on paper have, and why one cannot be recorded."""

import re
from collections.abc import Mapping

from fe.ecf.catalogue import EcfType
from fe.ecf.identity import ELECTRONIC_OF_PAPER
from fe.ecf.texts import LocalizedError, Text

#: Types that the authority authorises for paper, each with the e-CF that replaces it.
TYPES: Mapping[str, EcfType] = {f"B{code}": of for code, of in ELECTRONIC_OF_PAPER.items()}
_NCF = re.compile(r"B([0-9]{2})([0-9]{8})", re.ASCII)

_NO_NCF = Text(
    "{ncf} is not a number of series B such as B0100000001, of a type that has an e-CF ({types})",
    "{ncf} no es un número de la serie B como B0100000001, de un tipo que tenga e-CF ({types})",
)
_ELSEWHERE = Text(
    "{ncf} has an e-CF of your own with code 4, which the DGII has or may yet accept: {e_ncf} ({submission}). It needs "
    "no other one",
    "{ncf} tiene un e-CF propio con código 4, que la DGII aceptó o puede aceptar: {e_ncf} ({submission}). No necesita "
    "otro",
)
_JUST_SENT = Text(
    "an e-CF of your own with code 4 for {ncf} was sent within the last hour, and may be on its way: look for it among "
    "your receipts; if it is not there, try again in an hour",
    "en la última hora se envió un e-CF propio con código 4 para {ncf}, que puede estar en camino: búsquelo entre sus "
    "comprobantes; si no está, intente de nuevo en una hora",
)
NEVER_ENTERED = Text("{ncf} was never entered", "{ncf} nunca se registró")
#: Why a paper receipt gets no other e-CF for now.
IN_DOUBT = Text(
    "it is not known whether the DGII accepted {e_ncf}, so no other e-CF is issued. Look {e_ncf} up at the DGII: if it "
    "is accepted, this receipt is replaced and nothing is to be done; if not, tell the operator of the service",
    "no se sabe si la DGII aceptó {e_ncf}, así que no se emite otro e-CF. Consulte {e_ncf} en la DGII: si está "
    "aceptado, este comprobante ya está reemplazado y no hay que hacer nada; si no, avise al operador del servicio",
)


class PaperRefused(LocalizedError):
    """Nothing was written; the message says why and what to do."""


class PaperOfTomorrow(PaperRefused):
    """The date on the paper lies in the future."""


class PaperConflict(PaperRefused):
    """It cannot be done to what is there now."""


class NoSuchPaper(PaperRefused):
    """There is no paper receipt with this number."""


def ncf_of(prefix: str, number: int) -> str:
    """Write a number of series B."""
    return f"{prefix}{number:08d}"


def is_ncf(written: str) -> bool:
    """Return whether a text is a number that a paper receipt may have."""
    found = _NCF.fullmatch(written)
    return found is not None and found[1] in ELECTRONIC_OF_PAPER and int(found[2]) > 0


def read_ncf(written: str) -> tuple[str, int]:
    """Return prefix and number. Raises PaperRefused."""
    if not is_ncf(written):
        raise PaperRefused(_NO_NCF.fill(ncf=written[:20], types=", ".join(TYPES)))
    return written[:3], int(written[3:])


def replaced_elsewhere(ncf: str, submission: object, e_ncf: str | None) -> Text:
    """Say that a submission of the client's own replaces a number; without an e-NCF it is not stored yet."""
    if e_ncf is None:
        return _JUST_SENT.fill(ncf=ncf)
    return _ELSEWHERE.fill(ncf=ncf, e_ncf=e_ncf, submission=submission)
