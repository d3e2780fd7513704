"""Find the element that an unknown name was meant for: by its spelling, case, place, or type of e-CF."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import NamedTuple

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.parse import excerpt
from fe.ecf.problems import Problem, Repair
from fe.ecf.schema.kinds import DocumentKind, kind, names
from fe.ecf.schema.messages import problem
from fe.ecf.schema.model import Element
from fe.ecf.schema.repairs import fold

#: A shorter name is in others by chance.
_A_WORD = 4
#: Names of the parties' and lines' elements end in these: RNC is RNCComprador in `Comprador`.
_SUFFIXES = ("Comprador", "Emisor", "Item")
#: Words of invoicing programs, folded, by the group they stand in.
_ALIASES: dict[str, dict[str, str]] = {
    "Comprador": {
        **dict.fromkeys(("cedula", "rnccedula", "rncocedula", "taxid"), "RNCComprador"),
        **dict.fromkeys(("nombre", "name", "nombrecomprador", "nombrecliente"), "RazonSocialComprador"),
        **dict.fromkeys(("email", "emailcomprador", "correoelectronico"), "CorreoComprador"),
    },
    "Emisor": {
        **dict.fromkeys(("cedula", "rnccedula", "taxid"), "RNCEmisor"),
        **dict.fromkeys(("nombre", "name", "nombreemisor"), "RazonSocialEmisor"),
        **dict.fromkeys(("email", "correoelectronico"), "CorreoEmisor"),
        "fecha": "FechaEmision",
    },
    "Item": {
        **dict.fromkeys(("name", "producto", "articulo"), "NombreItem"),
        **dict.fromkeys(("qty", "quantity", "cant"), "CantidadItem"),
        **dict.fromkeys(("precio", "preciounitario", "preciounidad", "price", "unitprice"), "PrecioUnitarioItem"),
        **dict.fromkeys(("importe", "amount"), "MontoItem"),
        **dict.fromkeys(("unidad", "unidaddemedida"), "UnidadMedida"),
    },
}
#: A line's code stands in a table that wants its kind, too.
_LINE_CODES = frozenset({"codigo", "codigoitem", "sku", "code", "codigoproducto", "codigoarticulo"})


class _Place(NamedTuple):
    """Where an element is: the path without numbers of the group it stands in, and whether lists lead to it."""

    group: str
    in_list: bool


@cache
def _paths_by_name(of: DocumentKind) -> dict[str, tuple[_Place, ...]]:
    found: dict[str, list[_Place]] = {}

    def below(group: Element, path: str, in_list: bool) -> None:
        for child in group.children:
            found.setdefault(child.name, []).append(_Place(path, in_list))
            below(child, f"{path}.{child.name}" if path else child.name, in_list or child.many > 1)

    below(of.root, "", False)
    return {name: tuple(paths) for name, paths in found.items()}


@cache
def _types_of(group: str | None) -> dict[str, tuple[str, ...]]:
    """By element, the types of e-CF that have it in the group at that path (without numbers); of None: anywhere."""
    having: dict[str, list[str]] = {}
    for ecf_type in EcfType:
        for name, paths in _paths_by_name(kind(Root.ECF, ecf_type)).items():
            if group is None or any(place.group == group for place in paths):
                having.setdefault(name, []).append(str(ecf_type))
    return {name: tuple(types) for name, types in having.items()}


def _bare(path: str) -> str:
    """A path without its numbers."""
    return ".".join(step.partition("[")[0] for step in path.split(".")) if "[" in path else path


def spelt(name: str, known: Collection[str]) -> str | None:
    """The known name that differs in case, accents or signs alone."""
    wanted = fold(name)
    return next((one for one in known if fold(one) == wanted), None) if wanted else None


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that was meant, by its case or its spelling, or because it has the given one in it."""
    exact = spelt(name, known)
    if exact is not None:
        return exact
    by_fold = {fold(one): one for one in known}
    near = get_close_matches(fold(name), by_fold, n=1, cutoff=0.7)
    if near:
        return by_fold[near[0]]
    near = get_close_matches(name, known, n=1)
    if near:
        return near[0]
    wanted = fold(name)
    around = [one for folded, one in by_fold.items() if wanted in folded] if len(wanted) >= _A_WORD else []
    return around[0] if len(around) == 1 else None


def name_problem(
    the_kind: DocumentKind,
    of: Element,
    name: str,
    path: str,
    *,
    present: Collection[str] = (),
    suggest: bool = True,
    line: int | None = None,
) -> Problem:
    """Report that `of`, at `path`, has no element `name`, and suggest the intended one.

    The candidates, best first: a name that differs only in case, or that invoicing programs use for an element of this
    group; a name that other types have here; a name from another place of this type, or from any place of other types;
    the most similar name. Only the first kind is certain. `present` are the sibling names, which are never suggested.
    """
    shown = excerpt(name)
    there = f"{path}.{shown}" if path else shown
    # The code states the fact; the message may add more about the intended name.
    code = "forbidden-element" if name in names() else "unknown-element"

    def say(
        words: str,
        *,
        name: str = shown,
        instead: str | None = None,
        repair: Repair | None = None,
        types: str = "",
        place: str = "",
    ) -> Problem:
        said = problem(
            words,
            there,
            line,
            name=name,
            kind=the_kind.name,
            instead=instead,
            repair=repair,
            types=types,
            place=place,
        )
        return replace(said, code=code)

    def of_others(types: dict[str, tuple[str, ...]], meant: str) -> Problem:
        repair = Repair("remove", there, certain=False)
        return say("element-of-other-type", name=meant, types=", ".join(types[meant]), repair=repair)

    if not suggest:
        return say(code)
    free = [one for one in of.by_name if one not in present]
    prefix = f"{path}." if path else ""
    exact = spelt(name, free)
    if exact is None:
        exact = _called(of, name, free)
    if exact is not None:
        return say(code, instead=exact, repair=Repair("rename", there, to=f"{prefix}{exact}"))
    if of.name == "Item" and "TablaCodigosItem" in free and fold(name) in _LINE_CODES:
        to = f"{prefix}TablaCodigosItem.CodigosItem[1].CodigoItem"
        return say("element-elsewhere", place=to, repair=Repair("rename", there, to=to, certain=False))
    here, anywhere = (_types_of(_bare(path)), _types_of(None)) if the_kind.root.name == Root.ECF else ({}, {})
    foreign = [one for one in here if one not in of.by_name]
    meant = spelt(name, foreign)
    if meant is not None:
        return of_others(here, meant)
    elsewhere = _elsewhere(the_kind, name, path)
    if elsewhere:
        # Something may stand there already.
        repair = Repair("rename", there, to=elsewhere[0], certain=False) if len(elsewhere) == 1 else None
        return say("element-elsewhere", place=" / ".join(elsewhere), repair=repair)
    meant = spelt(name, [one for one in anywhere if one not in _paths_by_name(the_kind)])
    if meant is not None:
        return of_others(anywhere, meant)
    near = nearest(name, [*free, *foreign])
    if near is None:
        return say(code, repair=Repair("remove", there, certain=False))
    if near in foreign:
        return of_others(here, near)
    return say(code, instead=near, repair=Repair("rename", there, to=f"{prefix}{near}", certain=False))


def _called(of: Element, name: str, free: Collection[str]) -> str | None:
    """The element that invoicing programs call so in this group."""
    wanted = fold(name)
    meant = _ALIASES.get(of.name, {}).get(wanted)
    if meant is None and of.name in _SUFFIXES and wanted:
        meant = next((one for one in free if fold(one) == f"{wanted}{fold(of.name)}"), None)
    return meant if meant in free else None


def without_rivals(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Make the renaming of several names to one element uncertain: one would overwrite the other."""
    found = list(problems)
    targets = Counter(one.repair.to for one in found if one.repair is not None and one.repair.to is not None)
    for one in found:
        if one.repair is not None and one.repair.to is not None and targets[one.repair.to] > 1:
            one = replace(one, repair=replace(one.repair, certain=False))
        yield one


def _elsewhere(the_kind: DocumentKind, name: str, path: str) -> list[str]:
    """The paths of the kind that have the name: whole paths, with the numbers of `path` where they are inside it."""
    paths = _paths_by_name(the_kind).get(name)
    if paths is None:
        meant = spelt(name, _paths_by_name(the_kind))
        if meant is None:
            return []
        name, paths = meant, _paths_by_name(the_kind)[meant]
    return list(_paths(name, paths, path))[:5]


def _paths(name: str, paths: Collection[_Place], path: str) -> Iterator[str]:
    bare = _bare(path)
    for place in paths:
        if not place.in_list:
            yield f"{place.group}.{name}" if place.group else name
        elif bare and place.group.startswith(f"{bare}."):
            yield f"{path}{place.group[len(bare) :]}.{name}"
        elif bare.startswith(f"{place.group}."):
            yield f"{'.'.join(path.split('.')[: place.group.count('.') + 1])}.{name}"
        else:
            yield f"{place.group}.{name}"
