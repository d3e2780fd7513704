"""Forms of sequences: their values, and reading them."""

import re
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote

from fe.accounts import sequences as flow
from fe.accounts.sequences import LARGEST, BadSequence
from fe.ecf.texts import Text
from fe.portal.days import read_day
from fe.portal.visit import Form
from fe.store.records.sequences import Change, NextRange, Sequence, sequence_key

_NUMBER = re.compile(r"[0-9]{1,11}")
#: A whole number as the DGII's letter has it: only its last ten digits are the range's.
_E_NCF = re.compile(r"[Ee][0-9]{2}([0-9]{10})", re.ASCII)


@dataclass(frozen=True, slots=True)
class TypedSequence:
    """Values of the form as typed."""

    minimum: str
    maximum: str
    following: str
    expires: str
    is_active: bool
    prefix: str = ""
    name: str = ""
    #: Addresses of the users who draw from it by default.
    users: tuple[str, ...] = ()
    next_minimum: str = ""
    next_maximum: str = ""
    next_expires: str = ""

    @property
    def key(self) -> str:
        """The key of the sequence to create."""
        return sequence_key(self.prefix, self.name)

    @property
    def last_day(self) -> date | None:
        """The last day. Raises NoDay."""
        return read_day(self.expires)

    def next_range(self) -> NextRange | None:
        """The range that the authority gave ahead; None where its fields are empty. Raises BadSequence and NoDay."""
        minimum, maximum = self.number("next_minimum"), self.number("next_maximum")
        last_day = read_day(self.next_expires)
        if minimum is None or maximum is None:
            if minimum is None and maximum is None and last_day is None:
                return None
            raise BadSequence(_HALF)
        return NextRange(minimum, maximum, flow.end_of(last_day))

    def number(self, name: str) -> int | None:
        """A number of the form; None where it was left empty. Raises BadSequence."""
        text = getattr(self, name)
        if not text:
            return None
        if not _NUMBER.fullmatch(text):
            raise BadSequence(_LABELS[name])
        return int(text)

    def changes(self, sequence: Sequence) -> Change:
        """Return the requested change. Raises BadSequence and NoDay."""
        minimum, maximum, following = (self.number(name) for name in ("minimum", "maximum", "following"))
        last_day = self.last_day
        return Change(
            minimum=None if minimum == sequence.min_number else minimum,
            maximum=None if maximum == sequence.max_number else maximum,
            next_number=following,
            sets_expiry=last_day != sequence.last_day,
            expire_at=flow.end_of(last_day),
            is_active=None if self.is_active == _gives(sequence) else self.is_active,
            sets_next=self.next_range() != next_range_of(sequence),
            next_range=self.next_range(),
        )


_LABELS = {
    "minimum": Text("first number: digits only", "primer número: solo dígitos"),
    "maximum": Text("last number: digits only", "último número: solo dígitos"),
    "following": Text("next number: digits only", "próximo número: solo dígitos"),
    "next_minimum": Text("next range, first number: digits only", "rango siguiente, primer número: solo dígitos"),
    "next_maximum": Text("next range, last number: digits only", "rango siguiente, último número: solo dígitos"),
}
_HALF = Text(
    "next range: write both its first and its last number, or leave all its fields empty",
    "rango siguiente: escriba el primer y el último número, o deje vacíos todos sus campos",
)


def next_range_of(sequence: Sequence) -> NextRange | None:
    """Return the next range of a sequence."""
    if sequence.next_min is None or sequence.next_max is None:
        return None
    return NextRange(sequence.next_min, sequence.next_max, sequence.next_expire_at)


def _bare(text: str) -> str:
    found = _E_NCF.fullmatch(text)
    return text if found is None else str(int(found[1]))


def typed(form: Form) -> TypedSequence:
    """Read the sent form."""
    return TypedSequence(
        minimum=_bare(form.get("minimum")),
        maximum=_bare(form.get("maximum")),
        following=_bare(form.get("following")),
        expires=form.get("expires"),
        is_active=form.has("active"),
        prefix=form.get("prefix"),
        name=form.get("name"),
        users=tuple(form.every("user")),
        next_minimum=_bare(form.get("next_minimum")),
        next_maximum=_bare(form.get("next_maximum")),
        next_expires=form.get("next_expires"),
    )


def as_it_is(sequence: Sequence) -> TypedSequence:
    """Return the form of a sequence; an empty next number keeps the current one."""
    return TypedSequence(
        minimum=str(sequence.min_number),
        maximum=str(sequence.max_number),
        following="",
        expires="" if sequence.last_day is None else sequence.last_day.isoformat(),
        is_active=_gives(sequence),
        users=tuple(sequence.user_emails),
        next_minimum="" if sequence.next_min is None else str(sequence.next_min),
        next_maximum="" if sequence.next_max is None else str(sequence.next_max),
        next_expires="" if sequence.next_last_day is None else sequence.next_last_day.isoformat(),
    )


def _gives(sequence: Sequence) -> bool:
    """Whether numbers are drawn from it: a paused one is resumed by saying that it is to be used."""
    return sequence.is_active and sequence.paused_at is None


def empty() -> TypedSequence:
    """Return the form of a new sequence."""
    return TypedSequence(minimum="1", maximum=str(LARGEST), following="", expires="", is_active=True)


def state_of(sequence: Sequence) -> list[object]:
    """Return the state that a form was made from, without the next number, which each receipt moves."""
    return [
        sequence.sequence_id,
        sequence.min_number,
        sequence.max_number,
        sequence.is_active,
        sequence.expire_at,
        sequence.paused_at,
        sequence.next_min,
        sequence.next_max,
        sequence.next_expire_at,
        *sequence.user_emails,
    ]


def page_of(sequence: Sequence) -> str:
    """The page of a sequence, below its environment's."""
    return f"sequences/{sequence.prefix}" + (f"?name={quote(sequence.name)}" if sequence.name else "")
