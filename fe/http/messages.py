"""Messages of the API, in both languages (messages.toml).

Words of the interface (interface.md#errors) are what programs of clients may compare: their English is not reworded.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus

import msgspec

from fe.ecf.data_files import toml_file
from fe.ecf.texts import Text
from fe.store.records.approvals import DecisionOutcome, DecisionResult


class _Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    #: The name of the limit in the validator's error.
    name: str
    #: The Spanish, with the limit in the gap; the English is the validator's own.
    es: str


class _Messages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: dict[str, Text]
    #: The Spanish of each status.
    status: dict[str, str]
    #: After a field's name, by pydantic's error type.
    field: dict[str, Text]
    limit: dict[str, _Limit]


MESSAGES = toml_file("http/messages.toml", _Messages)
#: Where the standard library's phrase depends on its version.
_ENGLISH = {413: "Payload Too Large"}


def say(key: str, **values: object) -> Text:
    """Return a message with values in place of its braces."""
    text = MESSAGES.text[key]
    return text.fill(**values) if values else text


def of_status(status: int) -> Text:
    """Name a status."""
    english = _ENGLISH.get(status) or HTTPStatus(status).phrase
    otherwise = "Error de la solicitud" if status < 500 else "Error del servicio"
    return Text(english, MESSAGES.status.get(str(status), otherwise))


NOT_FOUND = of_status(404)
METHOD_NOT_ALLOWED = of_status(405)
TOO_MANY_REQUESTS = of_status(429)
INTERNAL_ERROR = of_status(500)
UNAVAILABLE = of_status(503)
FOREIGN_VERSION = of_status(505)


def body_too_large(limit: int | None, announced: int | None = None, *, is_batch: bool = False) -> Text:
    """Say how large a body may be, how large it was, and into how many parts to cut a batch."""
    said = say("body-too-large", limit=limit)
    if not is_batch or announced is None or limit is None or announced <= limit:
        return said
    return say("batch-too-large", said=said, announced=announced, parts=announced // limit + 1)


def goes_with(key: str, largest: int, outcomes: Iterable[str]) -> Text:
    """Say which outcomes a member of `simulate` goes with."""
    names = sorted(outcomes)
    return say(key, largest=largest, outcomes=Text(" and ".join(names), " y ".join(names)))


def did_you_mean(nearest: str | None, known: Iterable[str]) -> Text:
    """Suggest a member in place of an unknown one."""
    if nearest is not None:
        return say("did-you-mean", nearest=nearest)
    return say("leave-it-out", known=", ".join(known))


def must_be(name: str, form: Text) -> Text:
    """Say of which form a value must be."""
    return say("must-be", name=name, form=form)


def number_between(name: str, minimum: int, maximum: int) -> Text:
    """Say in which range a number must be."""
    return must_be(name, say("whole-number", minimum=minimum, maximum=maximum))


def of_field(path: str, kind: str, otherwise: str, limits: Mapping[str, object]) -> Text:
    """Say what is wrong with a field; `otherwise` are the validator's own words, for what has none of ours."""
    known = MESSAGES.field.get(kind)
    if known is not None:
        return Text(f"{path} {known.en}", f"{path} {known.es}")
    limit = MESSAGES.limit.get(kind)
    form = "no tiene un valor admitido" if limit is None else limit.es.replace("{}", str(limits.get(limit.name)))
    return Text(f"{path}: {otherwise[:1].lower()}{otherwise[1:]}", f"{path} {form}")


def of_body(wrong: Text) -> Text:
    """Say of the body what is wrong with it."""
    return say("the-body-is" if wrong.en.startswith("not ") else "the-body-holds", wrong=wrong)


def of_decision(decided: DecisionResult, *, approved: bool) -> Text | None:
    """Say what stands in the way of a decision; None where it was taken in, now or before."""
    match decided.outcome:
        case DecisionOutcome.CONTRARY:
            before = Text("rejected", "rechazó") if approved else Text("approved", "aprobó")
            return say("decided-otherwise", decided=before, tax_log_id=decided.submission_id, status=decided.status)
        case DecisionOutcome.ELSEWHERE:
            return say("decision-under-way", tax_log_id=decided.submission_id, status=decided.status)
        case DecisionOutcome.TAKEN:
            return say("request-id-taken", tax_log_id=decided.submission_id)
    return None
