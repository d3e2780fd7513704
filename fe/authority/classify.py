"""Classify the answer to a document, so that nothing is lost and nothing is sent twice.

Pure: it runs after the last byte was read. Every line answers one question: may the authority have processed the
document? If it may have, and the result is not in the answer, that is OutcomeUnknown: the authority is queried by
issuer and e-NCF before anything is sent again.

| Answer to a document | Means |
| --- | --- |
| 2xx with a trackId, or a verdict about this e-NCF | Receipt, Verdict |
| 2xx with `error` filled, or message 3243 | AuthorityRefused |
| 2xx otherwise: empty, garbage, a page, another e-NCF, "En Proceso" without a trackId | OutcomeUnknown |
| any status with a verdict that contradicts itself or the status | OutcomeUnknown |
| 3xx, 408, 5xx | OutcomeUnknown, whatever the body says |
| 401 | Unauthorised: one more try with a new token |
| 4xx with a trackId or a rejecting verdict | Receipt, Verdict |
| 400, 409, 422 with the authority's words | AuthorityRefused |
| 4xx otherwise (429 included): refused before the document was read | Unavailable |
| any verdict or refusal that says "intentar nueva vez" (code 004) | OutcomeUnknown |

004 is OutcomeUnknown and not Unavailable: it comes from inside the validation, so the document was received, and no
source documents whether it was stored. A query costs little; sending again blindly could make a duplicate.

A 400 without words (empty, or a gateway's page) is Unavailable: nothing was done, and the same bytes may be accepted
next time. A terminal error must rest on the authority's own words.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeVar

from fe.authority.bodies import Body, BodyForm, Message, fold, member, messages, read_body, text
from fe.authority.errors import (
    AuthorityError,
    AuthorityRefused,
    ForeignAnswer,
    NotDelegated,
    NotThere,
    OutcomeUnknown,
    Unavailable,
)
from fe.authority.estado import Estado
from fe.authority.gateway import Unauthorised
from fe.authority.replies import (
    AnotherDocument,
    Contradiction,
    GrantedToken,
    Receipt,
    Unreadable,
    Verdict,
    read_approval,
    read_receipt,
    read_token,
    read_verdict,
    read_voiding,
    says_not_found,
    says_try_again,
)
from fe.ecf.catalogue import Service
from fe.egress.answer import HttpReply

T = TypeVar("T")

#: However long the authority asks us to stay away, we look again after this.
LONGEST_WAIT = timedelta(hours=1)

_BAD_FILE_NAME = 3243
#: The statuses that judge the content; the other 4xx judge the caller, the path or the moment.
_OF_CONTENT = (400, 409, 422)


def classify_submission(service: Service, e_ncf: str | None, reply: HttpReply, now: datetime) -> Receipt | Verdict:
    """Say what became of a document. `e_ncf` is the number it was about, None for a document without one (ANECF)."""
    body = read_body(reply.body)
    wait = read_retry_after(reply.retry_after, now)
    reason = f"authority answered with status {reply.status}"
    if reply.status == 401:
        raise Unauthorised(reason, raw=body.raw)
    if reply.status == 408 or not (200 <= reply.status < 300 or 400 <= reply.status < 500):
        raise OutcomeUnknown(reason, raw=body.raw, retry_after=wait)
    if reply.status == 429:
        raise Unavailable(reason, raw=body.raw, retry_after=wait)
    try:
        _refuse_foreign_type(reply, body)
        answer = _answer(service, body)
    except Unreadable as unreadable:
        raise _without_answer(reply, body, unreadable, wait) from unreadable
    if isinstance(answer, Verdict):
        _check(answer, e_ncf, reply.status)
    return answer


def _answer(service: Service, body: Body) -> Receipt | Verdict:
    if service is Service.COMMERCIAL_APPROVAL:
        return read_approval(body)
    if service is Service.RANGE_VOIDING:
        return read_voiding(body)
    receipt = read_receipt(body) if service is Service.RECEPTION else None
    return receipt or read_verdict(body)


def _check(verdict: Verdict, e_ncf: str | None, status: int) -> None:
    if e_ncf is not None and verdict.e_ncf is not None and verdict.e_ncf != e_ncf:
        raise OutcomeUnknown("the answer is about another e-NCF", raw=verdict.raw)
    if verdict.try_again:
        raise OutcomeUnknown("the authority could not validate the document and asks for another try", raw=verdict.raw)
    if any(message.number == _BAD_FILE_NAME for message in verdict.messages):
        raise _refused(status, verdict.messages, verdict.raw)
    final = (Estado.REJECTED,) if status >= 400 else (Estado.ACCEPTED, Estado.CONDITIONAL, Estado.REJECTED)
    if verdict.estado not in final:
        raise OutcomeUnknown(f"authority answered {verdict.estado} with status {status}", raw=verdict.raw)


def _without_answer(reply: HttpReply, body: Body, unreadable: Unreadable, wait: timedelta | None) -> AuthorityError:
    words = () if body.form is BodyForm.HTML else messages(body)
    if says_try_again(words):
        return OutcomeUnknown("the authority asks for another try", raw=body.raw)
    if isinstance(unreadable, Contradiction):
        return OutcomeUnknown(f"the answer contradicts itself: {unreadable.reason}", raw=body.raw)
    if reply.status < 300:
        said_no = text(member(body.value, "error")) is not None and _speaks_data(reply)
        if said_no or any(word.number == _BAD_FILE_NAME for word in words):
            return _refused(reply.status, words, body.raw)
        return OutcomeUnknown(f"unreadable answer with status {reply.status}: {unreadable.reason}", raw=body.raw)
    if reply.status in _OF_CONTENT and words:
        return _refused(reply.status, words, body.raw)
    return Unavailable(f"authority answered with status {reply.status}", raw=body.raw, retry_after=wait)


def _refused(status: int, words: tuple[Message, ...], raw: dict[str, object]) -> AuthorityRefused:
    return AuthorityRefused(f"authority rejected with status {status}", status=status, messages=words, raw=raw)


def classify_query(reply: HttpReply, now: datetime, read: Callable[[Body], T], absent: Callable[[Body], T]) -> T:
    """Say what a query found: `read` reads an answer, `absent` stands for "not found" in the authority's words.

    A query changes nothing, so whatever is not an answer is Unavailable; AuthorityRefused where the authority says why
    not.
    """
    body = read_body(reply.body)
    wait = read_retry_after(reply.retry_after, now)
    reason = f"authority answered with status {reply.status}"
    if reply.status == 401:
        raise Unauthorised(reason, raw=body.raw)
    if 200 <= reply.status < 300:
        try:
            _refuse_foreign_type(reply, body)
            return read(body)
        except Unreadable as unreadable:
            if says_not_found(body):
                return absent(body)
            if isinstance(unreadable, AnotherDocument):
                raise ForeignAnswer("the answer is about another document", raw=body.raw) from unreadable
            raise Unavailable(f"unreadable answer: {unreadable.reason}", raw=body.raw) from unreadable
    if reply.status in (*_OF_CONTENT, 404) and says_not_found(body):
        return absent(body)
    words = () if body.form is BodyForm.HTML else messages(body)
    if reply.status in _OF_CONTENT and words and not says_try_again(words):
        raise _refused(reply.status, words, body.raw)
    kind = NotThere if reply.status == 404 else Unavailable
    raise kind(reason, raw=body.raw, retry_after=wait)


def classify_seed(reply: HttpReply, now: datetime) -> bytes:
    """Return the seed's bytes: a page that comes in its place is none, with 200 or not.

    The rest of what makes a seed is checked where it is signed.
    """
    body = read_body(reply.body)
    if not 200 <= reply.status < 300:
        raise Unavailable(
            f"the token service answered with status {reply.status}",
            raw=body.raw,
            retry_after=read_retry_after(reply.retry_after, now),
        )
    if body.root != "SemillaModel":
        raise Unavailable("the token service did not give a seed", raw=body.raw)
    return reply.body


def classify_token(reply: HttpReply, now: datetime) -> GrantedToken:
    """Return whether there is a session. Its service failing is Unavailable: no document was sent without a token.

    400 about the delegation is NotDelegated, 400 about the certificate or its signature AuthorityRefused; a 400 about
    anything else, or without words, may be the seed's age.
    """
    body = read_body(reply.body)
    if 200 <= reply.status < 300:
        try:
            return read_token(body, now)
        except Unreadable as unreadable:
            raise Unavailable(unreadable.reason) from unreadable
    words = () if body.form is BodyForm.HTML else messages(body)
    said = fold(" ".join(word.valor for word in words))
    if reply.status == 400 and "delegad" in said:
        raise NotDelegated("authority rejected with status 400", status=400, messages=words, raw=body.raw)
    if reply.status == 400 and ("certificad" in said or "firma" in said) and not says_try_again(words):
        raise _refused(400, words, body.raw)
    raise Unavailable(
        f"the token service answered with status {reply.status}",
        raw=body.raw,
        retry_after=read_retry_after(reply.retry_after, now),
    )


def _speaks_data(reply: HttpReply) -> bool:
    kind = reply.content_type.partition(";")[0].strip().lower()
    return kind in ("", "text/plain", "application/json", "text/json", "application/xml", "text/xml") or (
        kind.endswith(("+json", "+xml")) and kind != "application/xhtml+xml"
    )


def _refuse_foreign_type(reply: HttpReply, body: Body) -> None:
    if not _speaks_data(reply):
        raise Unreadable(f"it is {reply.content_type.partition(';')[0][:64]}", body.raw)


def read_retry_after(value: str | None, now: datetime) -> timedelta | None:
    """Read Retry-After, seconds or a date, as a time from `now`: at least 0, at most an hour; None if there is none."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        wait = timedelta(seconds=min(int(value[:9]), 10**6))
    else:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):  # of a year that no machine counts to, it is the second
            return None
        if moment.tzinfo is None:  # "-0000": a date that says nothing about its zone
            return None
        wait = moment - now
    return min(max(wait, timedelta(0)), LONGEST_WAIT)
