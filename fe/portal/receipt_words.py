"""Names of receipts, states and events, in both languages (receipt_words.toml)."""

from collections.abc import Mapping

import msgspec

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.data_files import toml_file
from fe.ecf.texts import Text
from fe.lifecycle import EventKind, NumberFate, Place
from fe.store.records.counterparty import HandingState
from fe.store.records.mail import MailState
from fe.store.records.received import ApprovalStatus
from fe.store.webhooks.deliveries import DeliveryState


class Badge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A state as a word in a colour: `ok`, `warn`, `bad` or `soft`."""

    colour: str
    text: Text


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    statuses: dict[str, Badge]
    types: dict[EcfType, Text]
    sequences: dict[EcfType, Text]
    roots: dict[Root, Text]
    fates: dict[NumberFate, Text]
    events: dict[EventKind, Text]
    handings: dict[HandingState, Badge]
    mails: dict[MailState, Badge]
    decisions: dict[ApprovalStatus, Badge]
    taken_decisions: dict[ApprovalStatus, Badge]
    deliveries: dict[DeliveryState, Badge]


_READ = toml_file("portal/receipt_words.toml", _Words)
STATUSES = _READ.statuses
TYPE_NAMES = _READ.types
TYPES = {code: Text(f"{code.prefix} {name.en}", f"{code.prefix} {name.es}") for code, name in TYPE_NAMES.items()}
FATES = _READ.fates
_EVENTS: Mapping[str, Text] = {str(kind): name for kind, name in _READ.events.items()}
HANDINGS = _READ.handings
MAILS = _READ.mails
DECISIONS = _READ.decisions
#: Decisions that the authority has not accepted yet.
TAKEN_DECISIONS = _READ.taken_decisions
DELIVERIES = _READ.deliveries

TAKEN_SINCE = Text(
    "given back by this one, and not free: another receipt has it now",
    "este lo devolvió, y no está libre: ahora lo lleva otro comprobante",
)
#: The last line of a file that could not hold all there is.
MORE_ROWS = Text(
    "There are more: narrow the dates and take another file.", "Hay más: acote las fechas y descargue otro archivo."
)


def status_badge(status: str, *, is_given_up: bool = False) -> Badge:
    """A submission's state; a dead letter is one, whatever its client is told meanwhile."""
    return STATUSES[Place.DEAD_LETTER if is_given_up else status]


def kind_of(root: Root, ecf_type: EcfType | None) -> Text:
    """Name the kind of document; a summary is one of consumer invoices."""
    if ecf_type is not None:
        return TYPES[ecf_type]
    return _READ.roots.get(root) or Text(root.value, root.value)


def sequence_name(prefix: str, name: str = "") -> Text:
    """Say which receipts a sequence numbers: `facturas de consumo (E32, Caja 2)`."""
    of, which = _READ.sequences[EcfType(prefix[1:])], ", ".join(filter(None, (prefix, name)))
    return Text(f"{of.en} ({which})", f"{of.es} ({which})")


def event_words(kind: str) -> Text:
    """Name an event of a receipt's history; unknown ones of a newer release keep their own name."""
    return _EVENTS.get(kind) or Text(kind, kind)
