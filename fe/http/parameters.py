"""Path and query parameters: text to values, or a 400 that names the parameter and its range."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Generic, Literal, TypedDict, TypeVar

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.identity import E_NCF_FORM, TAX_ID_FORM
from fe.ecf.ids import read_id
from fe.ecf.texts import Text
from fe.http.errors import ApiError
from fe.http.messages import must_be, number_between, say
from fe.http.models.labels import LONGEST_VALUE, is_label
from fe.identifiers import ClientRequestId, SubmissionId, TrackId, UserId
from fe.lifecycle import NumberFate, Place, Status, WebhookEvent
from fe.month.period import YearMonth
from fe.store.records.history import HistoryFilter
from fe.store.records.received import ApprovalStatus, ReceivedFilter
from fe.store.records.request_log import RequestFilter
from fe.store.webhooks.deliveries import DeliveryFilter, DeliveryState
from fe.webhooks.accounts import NAME_FORM

F = TypeVar("F")

_TRACK_OR_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
_NUMBER = re.compile(r"[0-9]{1,9}")
_E_NCF = re.compile(E_NCF_FORM)
_TAX_ID = re.compile(TAX_ID_FORM)
_STATE = re.compile("|".join([*Status, Place.DEAD_LETTER]))
_EVENT = re.compile("|".join(map(re.escape, WebhookEvent)))
_CLIENT_REQUEST_ID = re.compile(r"[^\x00]{1,120}", re.S)
_ENDPOINT = re.compile(NAME_FORM)
#: A status, or all that begin with its digit.
STATUS_FORM = "[45]([0-9]{2}|xx)"
_FAILED = re.compile(STATUS_FORM)
_ABOUT = re.compile(r"[\x20-\x7e]{1,120}")
_AS_USER = re.compile(r"[\x20-\x7e]{1,254}")
_TEXT = re.compile(r"[^\x00]{2,80}", re.S)
_AMOUNT = re.compile(r"[0-9]{1,16}(\.[0-9]{1,2})?")
_ECF_TYPE = re.compile("|".join(f"E{code}" for code in EcfType))
_APPROVAL = re.compile("|".join(ApprovalStatus))
_NUMBER_FATE = re.compile("|".join(NumberFate))
_FLAG = re.compile("true|false")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?(Z|z|[+-][0-9]{2}:?[0-9]{2})?"
)

PAGE_DEFAULT, PAGE_MAX = 1, 999_999_999
LIMIT_DEFAULT, LIMIT_MAX = 50, 200
WAIT_MAX = 30
WAITS_UNTIL = ("verdict", "signed")

#: Days of a period that filters without an index need.
DAYS_TO_LOOK_THROUGH = 93

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

A_DAY = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
AN_AMOUNT = {"type": "string", "pattern": r"^[0-9]{1,16}(\.[0-9]{1,2})?$"}


def read_month(params: Mapping[str, str]) -> YearMonth:
    """Read the month of a path. Raises ApiError (400)."""
    month = YearMonth.read(params["month"])
    if month is None:
        raise ApiError(400, must_be("month", say("month-form")))
    return month


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


def read_flag(query: Mapping[str, str], name: str) -> bool:
    """Read true or false; False where it is left out. Raises ApiError (400)."""
    return _read_like(query, name, _FLAG, say("one-of", names="true, false")) == "true"


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
    user = _read_like(query, "asUser", _AS_USER, say("user-form"))
    user_id = None if user is None else read_id(user)
    fate = _read_like(query, "numberFate", _NUMBER_FATE, say("one-of", names=", ".join(NumberFate)))
    chosen = HistoryFilter(
        since=since,
        until=until,
        state=_read_state(query),
        e_ncf=_read_e_ncf(query),
        buyer_rnc=_read_tax_id(query),
        client_request_id=None if request_id is None else ClientRequestId(request_id),
        user=user if user_id is None else UserId(user_id),
        label=_read_label(query),
        number_fate=None if fate is None else NumberFate(fate),
        **_read_content(query, since, until),
    )
    return _read_list(query, chosen)


def read_received_query(query: Mapping[str, str]) -> ListQuery[ReceivedFilter]:
    """Read the query of GET /received. Raises ApiError (400)."""
    since, until = _read_period(query)
    status = _read_like(query, "approvalStatus", _APPROVAL, say("one-of", names=", ".join(ApprovalStatus)))
    chosen = ReceivedFilter(
        since=since,
        until=until,
        e_ncf=_read_e_ncf(query),
        issuer_rnc=_read_tax_id(query),
        status=None if status is None else ApprovalStatus(status),
        **_read_content(query, since, until),
    )
    return _read_list(query, chosen)


class _Content(TypedDict):
    """Filters by the content of a receipt, issued or received."""

    ecf_type: EcfType | None
    issued_from: date | None
    issued_to: date | None
    total_from: Decimal | None
    total_to: Decimal | None
    text: str | None


#: Filters that no index answers.
_LOOKED_THROUGH = ("totalFrom", "totalTo", "text", "approvalStatus", "numberFate")


def _read_content(query: Mapping[str, str], since: datetime | None, until: datetime | None) -> _Content:
    first, last = _read_day(query, "issuedFrom"), _read_day(query, "issuedTo")
    least, most = _read_amount(query, "totalFrom"), _read_amount(query, "totalTo")
    if first is not None and last is not None and first > last:
        raise ApiError(400, say("first-after-last", first="issuedFrom", last="issuedTo"))
    if least is not None and most is not None and least > most:
        raise ApiError(400, say("first-after-last", first="totalFrom", last="totalTo"))
    longest = timedelta(days=DAYS_TO_LOOK_THROUGH)
    is_short = since is not None and until is not None and until - since <= longest
    is_short = is_short or (first is not None and last is not None and last - first <= longest)
    looked_through = [name for name in _LOOKED_THROUGH if name in query] + _labels(query)
    if looked_through and not is_short:
        raise ApiError(400, say("needs-period", name=looked_through[0], days=DAYS_TO_LOOK_THROUGH))
    code = _read_like(query, "tipoEcf", _ECF_TYPE, say("one-of", names=", ".join(f"E{one}" for one in EcfType)))
    return {
        "ecf_type": None if code is None else EcfType(code[1:]),
        "issued_from": first,
        "issued_to": last,
        "total_from": least,
        "total_to": most,
        "text": _read_like(query, "text", _TEXT, say("text-form")),
    }


def _labels(query: Mapping[str, str]) -> list[str]:
    return [name for name in query if name == "metadata" or name.startswith("metadata[")]


def _read_label(query: Mapping[str, str]) -> tuple[str, str] | None:
    """Read `metadata[name]=value` or `metadata=name=value`: a label and its value. Raises ApiError (400)."""
    asked = _labels(query)
    if not asked:
        return None
    if len(asked) > 1:
        raise ApiError(400, say("one-label"))
    label, has_value, value = query[asked[0]].partition("=")
    if asked[0] != "metadata":
        label, has_value, value = asked[0].removeprefix("metadata[").removesuffix("]"), "=", query[asked[0]]
    if not is_label(label) or not has_value:
        raise ApiError(400, must_be("metadata", say("label-asked")))
    if len(value) > LONGEST_VALUE or "\0" in value:
        raise ApiError(400, must_be(f"metadata[{label}]", say("label-value-form", longest=LONGEST_VALUE)))
    return label, value


def _read_day(query: Mapping[str, str], name: str) -> date | None:
    text = _read_like(query, name, _DATE, say("day-form"))
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise ApiError(400, must_be(name, say("day-form"))) from None


def _read_amount(query: Mapping[str, str], name: str) -> Decimal | None:
    text = _read_like(query, name, _AMOUNT, say("amount-form"))
    return None if text is None else Decimal(text)


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
        endpoint=_read_like(query, "endpoint", _ENDPOINT, say("endpoint-name")),
        since=since,
        until=until,
    )
    return _read_list(query, chosen)


def read_request_query(query: Mapping[str, str], environment: Environment) -> ListQuery[RequestFilter]:
    """Read the query of GET /requests, of an environment. Raises ApiError (400)."""
    since, until = _read_period(query)
    status = _read_like(query, "status", _FAILED, say("status-form"))
    least, most = 400, 599
    if status is not None:
        least, most = int(status.replace("x", "0")), int(status.replace("x", "9"))
    chosen = RequestFilter(
        environment=environment,
        api_key_id=_read_like(query, "key", _ABOUT, say("id-form")),
        least_status=least,
        most_status=most,
        request_id=_read_like(query, "requestId", _ABOUT, say("id-form")),
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


def _read_e_ncf(query: Mapping[str, str]) -> str | None:
    """Read a number as people write it: in lower case, or with blanks and dashes."""
    return _read_like(_as_written(query, "encf"), "encf", _E_NCF, say("e-ncf-form"))


def _read_tax_id(query: Mapping[str, str]) -> str | None:
    """Read a tax id as people write it: 1-31-88068-1."""
    return _read_like(_as_written(query, "rnc"), "rnc", _TAX_ID, say("tax-id-form"))


def _as_written(query: Mapping[str, str], name: str) -> Mapping[str, str]:
    return {name: re.sub(r"[ -]", "", query[name]).upper()} if name in query else {}


def _read_cursor(query: Mapping[str, str]) -> SubmissionId | None:
    text = query.get("cursor")
    if text is None:
        return None
    cursor = read_id(text)
    if cursor is None:
        raise ApiError(400, say("bad-cursor"))
    return SubmissionId(cursor)
