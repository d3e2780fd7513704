"""A document as a value: which kind it is and what it says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.problems import Problem

_STEP = re.compile(r"(?P<name>\w+)(?:\[(?P<number>\d+)\])?")

_E_NCF = {
    Root.ECF: "Encabezado.IdDoc.eNCF",
    Root.RFCE: "Encabezado.IdDoc.eNCF",
    Root.ACECF: "DetalleAprobacionComercial.eNCF",
    Root.ARECF: "DetalleAcusedeRecibo.eNCF",
}
_ISSUER = {
    Root.ECF: "Encabezado.Emisor.RNCEmisor",
    Root.RFCE: "Encabezado.Emisor.RNCEmisor",
    Root.ACECF: "DetalleAprobacionComercial.RNCEmisor",
    Root.ARECF: "DetalleAcusedeRecibo.RNCEmisor",
    Root.ANECF: "Encabezado.RncEmisor",
}
_BUYER = {
    Root.ECF: "Encabezado.Comprador.RNCComprador",
    Root.RFCE: "Encabezado.Comprador.RNCComprador",
    Root.ACECF: "DetalleAprobacionComercial.RNCComprador",
    Root.ARECF: "DetalleAcusedeRecibo.RNCComprador",
}


@lru_cache(maxsize=4096)
def _steps(path: str) -> tuple[tuple[str, int | None], ...]:
    matches = (_STEP.fullmatch(step) for step in path.split("."))
    return tuple((m["name"], int(m["number"]) if m["number"] else None) for m in matches if m)


class NotADocument(ValueError):
    """What was given cannot become a document at all. `problems` holds every reason found, at least one."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(f"{p.path}: {p.message}" if p.path else p.message for p in problems[:5]))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Document:
    """The children of a root element as nested dicts; elements that may repeat are lists, leaves are text.

    Until `build` has written it, a leaf may also be an int or a Decimal. `type` is None for ACECF, ANECF and ARECF.
    The content is not copied: whoever makes a Document leaves its content alone from then on.
    """

    root: Root
    type: EcfType | None
    content: Mapping[str, Any]

    def get(self, path: str) -> Any:
        """What stands at `path` (`Encabezado.IdDoc.eNCF`, `DetallesItems.Item[2].MontoItem`), or None.

        Without a number a repeating element is its whole list.
        """
        value: Any = self.content
        for name, number in _steps(path):
            if not isinstance(value, Mapping):
                return None
            value = value.get(name)
            if number is not None:
                if not isinstance(value, list) or not 1 <= number <= len(value):
                    return None
                value = value[number - 1]
        return value

    @property
    def e_ncf(self) -> str | None:
        """The fiscal number, as it stands in the document."""
        return self._text(_E_NCF)

    @property
    def issuer_rnc(self) -> str | None:
        """The tax id of who issued the e-CF (in ACECF and ARECF too: not of the buyer who signs those)."""
        return self._text(_ISSUER)

    @property
    def buyer_rnc(self) -> str | None:
        """The tax id of the buyer, where the document names one."""
        return self._text(_BUYER)

    def _text(self, paths: Mapping[Root, str]) -> str | None:
        path = paths.get(self.root)
        value = None if path is None else self.get(path)
        return str(value) if isinstance(value, (str, int)) and value != "" else None
