"""Effects of database functions on a submission's place, status, number and history, parsed from their text.

The text comes from the catalogue. Only the constructs that these functions use are understood; anything else is an
error.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from fe.lifecycle import EventKind, NumberFate, Place, Status

#: It stays in the stage it is in.
STAYS = "stays"
#: The caller says it.
SAID = "said"

#: Parts of the others, and what they take.
HELPERS = frozenset(
    {"record_event", "complete_batch", "record_event_batch", "announce_batch"}
    | {"claim_due"}  # leases rows, as any claim does
)

_WRITES = re.compile(
    r"\b(?:UPDATE|INSERT INTO|DELETE FROM)\s+(?:submissions|submission_events|outbox|dead_letters)\b"
    r"|\b(?:record_event|(?:complete|record_event|announce)_batch|book_\w+)\("
)


@dataclass(frozen=True)
class Effects:
    """Values that a function can write. Empty: it leaves that as it is."""

    to: frozenset[str]
    status: frozenset[str]
    fate: frozenset[str]
    events: frozenset[str]


def moves_a_submission(definition: str) -> bool:
    """Whether a function has any part in a submission's life."""
    return _WRITES.search(_body(definition)) is not None


def read(name: str, definitions: Mapping[str, str], defaults: Mapping[str, str]) -> Effects:
    """The effects of a function. `defaults` are those of the columns of `submissions`."""
    body = _body(definitions[name])
    called = [
        _as_called(other, body, definitions, defaults) for other in re.findall(r"\b(book_\w+|announce_batch)\(", body)
    ]
    status = [values["status"] for values in _assigned(body, "submissions") if "status" in values]
    fate = [values["number_fate"] for values in _assigned(body, "submissions") if "number_fate" in values]
    if values := _inserted(body, "submissions"):
        status.append(values.get("status", defaults["status"]))
        fate.append(values.get("number_fate", defaults["number_fate"]))
    events = re.findall(r"\brecord_event(?:_batch)?\([^']*'(\w+)'", body)
    recorded = re.findall(r"\brecord_event(?:_batch)?\(", body)
    assert len(events) == len(recorded), f"{name}: an event whose kind is no constant"
    if values := _inserted(body, "submission_events"):
        events += _values(values["kind"], body)
    return Effects(
        frozenset(_places(body)).union(*(one.to for one in called)),
        frozenset(_known(value, Status) for one in status for value in _values(one, body)).union(
            *(one.status for one in called)
        ),
        frozenset(_known(value, NumberFate) for one in fate for value in _values(one, body)).union(
            *(one.fate for one in called)
        ),
        frozenset(map(EventKind, events)).union(*(one.events for one in called)),
    )


def _as_called(name: str, caller: str, definitions: Mapping[str, str], defaults: Mapping[str, str]) -> Effects:
    """The effects of a function within another: a number's fate that the other one says as a constant is known."""
    effects = read(name, definitions, defaults)
    of_all = r"::text, ARRAY\[cardinality\(p_subjects\)\]\)"
    said = re.search(rf"\b{name}\([^;]*,\s*(?:array_fill\()?'(\w+)'(?:{of_all})?\);", caller)
    if said is None or SAID not in effects.fate:
        return effects
    assert re.search(r"p_number_fates? text(\[\])?\)", definitions[name]), (
        f"{name}: the fate is not what it is given last"
    )
    return replace(effects, fate=effects.fate - {SAID} | {NumberFate(said[1])})


def _known(value: str, kind: type[StrEnum]) -> str:
    return SAID if value.startswith(("p_", "b.")) else kind(value)


def _body(definition: str) -> str:
    text = re.sub(r"--[^\n]*", "", definition)
    found = re.search(r"\$function\$(.*)\$function\$", text, re.S)
    return found[1] if found else text


def _places(body: str) -> Iterator[str]:
    """Where the row is afterwards."""
    if re.search(r"\bcomplete_batch\(", body):
        yield Place.ENDED
    inserted = _inserted(body, "outbox")
    for value in _values(inserted["stage"], body) if inserted else ():
        # `dead.stage`: the one it died in, which may be any.
        yield from (Place.SIGN, Place.SEND, Place.TRACK, Place.RECONCILE) if value == "dead.stage" else (Place(value),)
    if _inserted(body, "dead_letters"):
        yield Place.DEAD_LETTER
    elif re.search(r"DELETE FROM outbox", body) or (re.search(r"DELETE FROM dead_letters", body) and not inserted):
        yield Place.ENDED
    if "UPDATE submissions" in body and not re.search(r"outbox|complete_batch|dead_letters", body):
        yield STAYS
    for assigned in _assigned(body, "outbox"):
        yield Place(*_values(assigned["stage"], body)) if "stage" in assigned else STAYS


def _values(expression: str, body: str) -> Iterator[str]:
    """The values that an expression can have: a constant, a parameter, or what a variable is given."""
    if literals := re.findall(r"'([^']*)'", expression.partition("THEN")[2] or expression):
        yield from literals
    elif given := re.findall(rf"\b{re.escape(expression)}\s*:=\s*(.*?);", body, re.S):
        for each in given:
            yield from _values(each.strip(), body)
    else:
        yield expression


def _inserted(body: str, table: str) -> dict[str, str]:
    """The values of an INSERT by their columns."""
    found = re.search(rf"INSERT INTO {table} \((.*?)\)\s*(?:VALUES \(|SELECT )(.*?)(?:\);|\s+FROM )", body, re.S)
    if found is None:
        assert f"INSERT INTO {table} " not in body, f"an INSERT INTO {table} that cannot be read"
        return {}
    columns, values = ([part.strip() for part in re.split(r",(?![^(]*\))", text)] for text in found.groups())
    return dict(zip(columns, values, strict=True))


def _assigned(body: str, table: str) -> Iterator[dict[str, str]]:
    """Values that each UPDATE of a table gives its columns."""
    for text in re.findall(rf"UPDATE {table} AS \w+\s+SET (.*?)\s+(?:FROM|WHERE) ", body, re.S):
        yield dict(re.findall(r"(?:^|,)\s*(\w+) = (.*?)(?=,\s*\w+ = |$)", text, re.S))
