"""Path and query parameters: text to values, or a 400 that names the parameter and its range."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Generic, Literal, TypeVar

from fe.ecf.catalogue import Environment
from fe.ecf.identity import E_NCF_FORM, TAX_ID_FORM
from fe.ecf.ids import read_id
from fe.ecf.texts import Text
from fe.http.errors import ApiError
from fe.http.messages import must_be, number_between, say
from fe.identifiers import ClientRequestId, SubmissionId, TrackId
from fe.lifecycle import Place, Status, WebhookEvent
from fe.store.records.history import HistoryFilter
from fe.store.records.received import ReceivedFilter
from fe.store.webhooks.deliveries import DeliveryFilter, DeliveryState

F = TypeVar("F")

_TRACK_OR_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
_NUMBER = re.compile(r"[0-9]{1,9}")
_E_NCF = re.compile(E_NCF_FORM)
_TAX_ID = re.compile(TAX_ID_FORM)
_STATE = re.compile("|".join([*Status, Place.DEAD_LETTER]))
_EVENT = re.compile("|".join(map(re.escape, WebhookEvent)))
_CLIENT_REQUEST_ID = re.compile(r"[^\x00]{1,120}", re.S)
_ABOUT = re.compile(r"[\x20-\x7e]{1,120}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?(Z|z|[+-][0-9]{2}:?[0-9]{2})?"
)

PAGE_DEFAULT, PAGE_MAX = 1, 999_999_999
LIMIT_DEFAULT, LIMIT_MAX = 50, 200
WAIT_MAX = 30

#: Values of the filter `state`.
STATES = (*Status, Place.DEAD_LETTER)
#: Values of the filter `state` of deliveries, and their names in the store.
DELIVERY_STATES = {
    "pending": DeliveryState.PENDING,
    "held": DeliveryState.HELD,
    "delivered": DeliveryState.DELIVERED,
    "failed": DeliveryState.FAILED,
}
_DELIVERY_STATE = re.compile("|".join(DELIVERY_STATES))
#: How a date or a timestamp is described.
A_MOMENT = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].+)?$"}


def read_track_or_id(text: str) -> SubmissionId | TrackId | None:
    """Read a taxLogId or trackId; None for what can be neither, which matches nothing."""
    if not _TRACK_OR_ID.fullmatch(text):
        return None
    submission_id = read_id(text)
    return TrackId(text) if submission_id is None else SubmissionId(submission_id)


def read_choice(query: Mapping[str, str], name: str, choices: Sequence[str]) -> str:
    """Read one of a few words; without the parameter the first. Raises ApiError (400)."""
    given = query.get(name, choices[0])
    if given not in choices:
        raise ApiError(400, must_be(name, say("one-of", names=", ".join(choices))))
    return given


def read_number(query: Mapping[str, str], name: str, *, default: int, minimum: int, maximum: int) -> int:
    """Read a whole number. Raises ApiError (400) when it is none, or out of range."""
    text = query.get(name)
    if text is None:
        return default
    if not _NUMBER.fullmatch(text) or not minimum <= int(text) <= maximum:
        raise ApiError(400, number_between(name, minimum, maximum))
    return int(text)


def read_moment(query: Mapping[str, str], name: str, *, end_of_day: bool) -> datetime | None:
    """Read a date or timestamp; a date alone means that day's start, or its end, in UTC. Raises ApiError (400).

    A timestamp without a zone is in UTC.
    """
    text = query.get(name)
    if text is None:
        return None
    moment = parse_moment(text, end_of_day=end_of_day)
    if moment is None:
        raise ApiError(400, must_be(name, say("moment-form")))
    return moment


def parse_moment(text: str, *, end_of_day: bool = False) -> datetime | None:
    """Read a date (its start or end in UTC) or a timestamp; None when it is neither."""
    try:
        if _DATE.fullmatch(text):
            day = date.fromisoformat(text)
            return datetime.combine(day, time.max if end_of_day else time.min, UTC)
        # A plus sign in a query string that was not escaped arrives as a blank.
        text = re.sub(r" (?=[0-9]{2}:?[0-9]{2}$)", "+", text) if text.count(" ") == 1 and "T" in text else text
        if not _MOMENT.fullmatch(text):
            return None
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class ListQuery(Generic[F]):
    """The query of a list: a filter, and a page or a cursor."""

    page: int
    limit: int
    chosen: F
    cursor: SubmissionId | None


def read_history_query(query: Mapping[str, str]) -> ListQuery[HistoryFilter]:
    """Read the query of GET /invoices (`status` is reserved and has no effect). Raises ApiError (400)."""
    since, until = _read_period(query)
    request_id = _read_like(query, "clientRequestId", _CLIENT_REQUEST_ID, say("request-id-form"))
    chosen = HistoryFilter(
        since=since,
        until=until,
        state=_read_state(query),
        e_ncf=_read_like(query, "encf", _E_NCF, say("e-ncf-form")),
        buyer_rnc=_read_like(query, "rnc", _TAX_ID, say("tax-id-form")),
        client_request_id=None if request_id is None else ClientRequestId(request_id),
    )
    return _read_list(query, chosen)


def read_received_query(query: Mapping[str, str]) -> ListQuery[ReceivedFilter]:
    """Read the query of GET /received. Raises ApiError (400)."""
    since, until = _read_period(query)
    chosen = ReceivedFilter(
        since=since,
        until=until,
        e_ncf=_read_like(query, "encf", _E_NCF, say("e-ncf-form")),
        issuer_rnc=_read_like(query, "rnc", _TAX_ID, say("tax-id-form")),
    )
    return _read_list(query, chosen)


def _read_list(query: Mapping[str, str], chosen: F) -> ListQuery[F]:
    return ListQuery(
        page=read_number(query, "page", default=PAGE_DEFAULT, minimum=1, maximum=PAGE_MAX),
        limit=read_number(query, "limit", default=LIMIT_DEFAULT, minimum=1, maximum=LIMIT_MAX),
        chosen=chosen,
        cursor=_read_cursor(query),
    )


def read_delivery_query(query: Mapping[str, str], environment: Environment) -> ListQuery[DeliveryFilter]:
    """Read the query of GET /webhooks/deliveries, of an environment. Raises ApiError (400)."""
    since, until = _read_period(query)
    state = _read_like(query, "state", _DELIVERY_STATE, say("one-of", names=", ".join(DELIVERY_STATES)))
    kind = _read_like(query, "event", _EVENT, say("one-of", names=", ".join(WebhookEvent)))
    chosen = DeliveryFilter(
        environment=environment,
        state=None if state is None else DELIVERY_STATES[state],
        kind=None if kind is None else WebhookEvent(kind),
        about=_read_like(query, "about", _ABOUT, say("id-form")),
        since=since,
        until=until,
    )
    return _read_list(query, chosen)


def _read_period(query: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    since = read_moment(query, "from", end_of_day=False)
    until = read_moment(query, "to", end_of_day=True)
    if since is not None and until is not None and since > until:
        raise ApiError(400, say("from-after-to"))
    return since, until


def _read_state(query: Mapping[str, str]) -> Status | Literal[Place.DEAD_LETTER] | None:
    text = _read_like(query, "state", _STATE, say("one-of", names=", ".join(STATES)))
    if text is None:
        return None
    return Place.DEAD_LETTER if text == Place.DEAD_LETTER else Status(text)


def _read_like(query: Mapping[str, str], name: str, form: re.Pattern[str], form_words: Text) -> str | None:
    text = query.get(name)
    if text is not None and not form.fullmatch(text):
        raise ApiError(400, must_be(name, form_words))
    return text


def _read_cursor(query: Mapping[str, str]) -> SubmissionId | None:
    text = query.get("cursor")
    if text is None:
        return None
    cursor = read_id(text)
    if cursor is None:
        raise ApiError(400, say("bad-cursor"))
    return SubmissionId(cursor)
