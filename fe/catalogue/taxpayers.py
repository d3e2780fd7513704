"""The authority's register of taxpayers: a line of its file, and remarks on a buyer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fe.catalogue.search import fold_words
from fe.ecf.identity import tax_id
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import Text

#: Bytes of a line; the longest of the authority's file has some hundreds.
LONGEST_LINE: Final = 4096
#: RNC, name, trade name, activity, four of an address, since when, state, regime.
_COLUMNS = 11
_ACTIVE = "ACTIVO"
#: Forms of companies, which people write in different ways or leave out.
_FORMS = frozenset({"srl", "sa", "sas", "eirl", "cxa", "s", "a", "r", "l", "e", "i", "c", "por"})

_NOT_ACTIVE = Text(
    "the register of the authority has {rnc} as {status}: make sure before you issue",
    "el registro de la DGII tiene {rnc} como {status}: confírmelo antes de emitir",
)
_OTHER_NAME = Text(
    "the register of the authority has {rnc} as {name}: compare the name",
    "el registro de la DGII tiene {rnc} a nombre de {name}: compare el nombre",
)


@dataclass(frozen=True, slots=True)
class RegisteredTaxpayer:
    """An entry of the register, in its own words; '' is unknown."""

    rnc: str
    name: str
    trade_name: str
    activity: str
    status: str
    regime: str

    @property
    def is_active(self) -> bool:
        """Whether the register has it as active."""
        return self.status == _ACTIVE

    def is_called(self, name: str) -> bool:
        """Tell whether a name is this taxpayer's: case, accents, signs and the form of company do not count."""
        typed = _bare(name)
        return not typed or typed in (_bare(self.name), _bare(self.trade_name))


def _bare(name: str) -> list[str]:
    return [word for word in fold_words(name) if word not in _FORMS]


class BadLine(ValueError):
    """A line is not one of the register; the text says why."""


def read_line(line: bytes) -> RegisteredTaxpayer:
    """Read a line of the authority's file, without its end. Raises BadLine."""
    if len(line) > LONGEST_LINE:
        raise BadLine(f"more than {LONGEST_LINE} bytes")
    try:
        cells = line.decode("cp1252").split("|")
    except UnicodeDecodeError:
        raise BadLine("a byte that Windows-1252 does not have") from None
    if len(cells) != _COLUMNS:
        raise BadLine(f"{len(cells)} columns, and not {_COLUMNS}")
    rnc = cells[0].strip()
    if tax_id(rnc) is None:
        raise BadLine("no RNC or cédula in the first column")
    if "\0" in line.decode("latin-1"):
        raise BadLine("a NUL")
    name, trade_name, activity, status, regime = (" ".join(cells[at].split()) for at in (1, 2, 3, 9, 10))
    if not name or not status:
        raise BadLine("no name or no state")
    return RegisteredTaxpayer(rnc, name, trade_name, activity, status, regime)


def remarks_on(found: RegisteredTaxpayer, name: str | None) -> Iterator[Problem]:
    """Compare a receipt's buyer with the register."""
    place = "Encabezado.Comprador"
    if not found.is_active:
        said = _NOT_ACTIVE.fill(rnc=found.rnc, status=found.status)
        yield _remark("buyer-not-active", f"{place}.RNCComprador", said, found.rnc)
    if name is not None and not found.is_called(name):
        said = _OTHER_NAME.fill(rnc=found.rnc, name=found.name)
        yield _remark("buyer-other-name", f"{place}.RazonSocialComprador", said, name)


def _remark(code: str, path: str, said: Text, found: str) -> Problem:
    return Problem(code, path, said.en, said.es, found=found[:64], severity=Severity.CONDITIONAL)
