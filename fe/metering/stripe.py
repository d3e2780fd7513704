"""Stripe client: three calls of its API, each answer parsed strictly.

A charge is an invoice item on the tenant's subscription: `POST /v1/invoiceitems`, as a form, under an Idempotency-Key,
which Stripe keeps for at least a day. So before a charge is sent, the customer's items are searched for its id in the
metadata. An unexpected answer counts as none.
"""

import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr

from fe.ecf.parse import MalformedJson, parse_json
from fe.egress.tls import default_tls
from fe.metering.processor import ProcessorDiffers, ProcessorRefused, ProcessorUnavailable
from fe.store.records.charges import Charge
from fe.store.records.months import month_after

#: API version that this client requests and parses.
_VERSION = "2024-06-20"
#: The id of a charge, as it stands in the metadata of its item.
_MARK = "fe_charge"

_SECONDS = 10.0
_LARGEST = 512 * 1024
_PAGE, _PAGES = 100, 20
#: Their clock and ours may differ, when an item is looked for by when it was made.
_EARLIER = timedelta(days=1)

_ID = re.compile(r"[a-z]{2,5}_[A-Za-z0-9_]{1,200}")
_OVER = ("canceled", "incomplete_expired")
#: Temporary errors: wrong key, rate limit, or a concurrent request.
_LATER = (401, 403, 409, 429)


class _Unreadable(ValueError):
    """Unexpected answer; the text says what is wrong, without quoting it."""


@dataclass(frozen=True, slots=True)
class _Subscription:
    """As far as charges need it."""

    status: str
    customer: str


class Stripe:
    """Calls one account. Make it with `stripe`."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def find(self, charge: Charge) -> str | None:
        """As Processor says; also of a subscription that is over, which may have been charged before it was."""
        customer = (await self._subscription(charge)).customer
        # No charge of a month is made before its end.
        since = int((month_after(charge.month) - _EARLIER).timestamp())
        query: dict[str, str] = {"customer": customer, "limit": str(_PAGE), "created[gte]": str(since)}
        for _ in range(_PAGES):
            answer = await self._call("GET", f"/v1/invoiceitems?{urlencode(query)}")
            try:
                items = _field(answer, "data", list)
                for item in items:
                    if _field(_field(item, "metadata", dict), _MARK, str, "") == str(charge.subject):
                        return _found(item, charge, customer)
                if not _field(answer, "has_more", bool):
                    return None
                query["starting_after"] = _id(items[-1] if items else {}, "id")
            except _Unreadable as wrong:
                raise ProcessorUnavailable(f"the list of items cannot be read: {wrong}") from None
        raise ProcessorUnavailable(f"the customer has more than {_PAGE * _PAGES} items since: look for it by hand")

    async def add(self, charge: Charge) -> str:
        """As Processor says."""
        subscription = await self._subscription(charge)
        if subscription.status in _OVER:
            raise ProcessorRefused(f"the subscription is {subscription.status}")
        customer = subscription.customer
        begin = datetime(charge.month.year, charge.month.month, 1, tzinfo=UTC)
        form = {
            "customer": customer,
            "subscription": charge.subscription_id,
            "amount": str(_cents(charge.amount)),
            "currency": charge.currency.lower(),
            "description": f"e-CF {charge.month:%Y-%m}: {charge.emissions} x {charge.unit_price} {charge.currency}",
            "period[start]": str(int(begin.timestamp())),
            "period[end]": str(int(month_after(begin).timestamp())),
            f"metadata[{_MARK}]": str(charge.subject),
            "metadata[fe_month]": f"{charge.month:%Y-%m}",
        }
        answer = await self._call("POST", "/v1/invoiceitems", form, key=charge.idempotency_key)
        try:
            return _item_of(answer, charge, customer)
        except _Unreadable as wrong:
            raise ProcessorUnavailable(f"the answer cannot be read: {wrong}") from None

    async def _subscription(self, charge: Charge) -> _Subscription:
        if not _ID.fullmatch(charge.subscription_id):
            raise ProcessorRefused("the subscription's id has not the form of one")
        answer = await self._call("GET", f"/v1/subscriptions/{charge.subscription_id}")
        try:
            if _field(answer, "object", str) != "subscription" or _id(answer, "id") != charge.subscription_id:
                raise _Unreadable("it is about something else")
            return _Subscription(_field(answer, "status", str), _id(answer, "customer"))
        except _Unreadable as wrong:
            raise ProcessorUnavailable(f"the subscription cannot be read: {wrong}") from None

    async def _call(
        self, method: str, target: str, form: Mapping[str, str] | None = None, *, key: str | None = None
    ) -> dict[str, Any]:
        headers = {"idempotency-key": key} if key is not None else {}
        body = b""
        try:
            async with self._client.stream(method, target, data=form, headers=headers) as response:
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > _LARGEST:
                        raise ProcessorUnavailable("the answer is too large")
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise ProcessorUnavailable(f"no answer: {type(error).__name__}") from None
        if response.status_code == 200:
            return _object(body)
        raise _refusal(response.status_code, body, response.headers)


@asynccontextmanager
async def stripe(
    url: str, key: SecretStr, *, tls: ssl.SSLContext | None = None, seconds: float = _SECONDS
) -> AsyncIterator[Stripe]:
    """Open a client for the account of `key` while the block runs. The key goes into the head of requests alone."""
    headers = {"authorization": f"Bearer {key.get_secret_value()}", "stripe-version": _VERSION}
    async with httpx.AsyncClient(
        base_url=url,
        headers=headers,
        timeout=seconds,
        verify=tls or default_tls(),
        trust_env=False,
        limits=httpx.Limits(max_keepalive_connections=0),
    ) as client:
        yield Stripe(client)


def _refusal(status: int, body: bytes, headers: Mapping[str, str]) -> Exception:
    reason = f"HTTP {status}"
    try:
        error = _field(_object(body), "error", dict)
        said = [str(error[name]) for name in ("type", "code", "param") if isinstance(error.get(name), str)]
        reason = " ".join([reason, *said])[:200]
    except (ProcessorUnavailable, _Unreadable):
        # A refusal without Stripe's form may come from a proxy, so it proves nothing.
        return ProcessorUnavailable(f"{reason}, and nothing that can be read")
    if status in _LATER or status >= 500 or status < 400:
        wait = headers.get("retry-after", "")
        return ProcessorUnavailable(reason, timedelta(seconds=int(wait)) if re.fullmatch(r"\d{1,4}", wait) else None)
    return ProcessorRefused(reason)


def _object(body: bytes) -> dict[str, Any]:
    try:
        answer = parse_json(body)
    except MalformedJson:
        raise ProcessorUnavailable("the answer is no JSON") from None
    if not isinstance(answer, dict):
        raise ProcessorUnavailable("the answer is no object")
    return answer


def _found(item: dict[str, Any], charge: Charge, customer: str) -> str:
    try:
        return _item_of(item, charge, customer)
    except _Unreadable as wrong:
        raise ProcessorDiffers(f"an item of this id cannot be read as the charge: {wrong}") from None


def _item_of(item: dict[str, Any], charge: Charge, customer: str) -> str:
    """The id of an item that is this charge and nothing else."""
    if _field(item, "object", str) != "invoiceitem":
        raise _Unreadable("it is no invoice item")
    expected: dict[str, object] = {
        "amount": _cents(charge.amount),
        "currency": charge.currency.lower(),
        "customer": customer,
        "subscription": charge.subscription_id,
    }
    for name, value in expected.items():
        if _field(item, name, type(value)) != value:
            raise _Unreadable(f"its {name} is not the charge's")
    if _field(_field(item, "metadata", dict), _MARK, str) != str(charge.subject):
        raise _Unreadable("it is another charge")
    return _id(item, "id")


def _cents(amount: Decimal) -> int:
    return int(amount.scaleb(2))


_NEEDED: Any = object()


def _field(record: Any, name: str, kind: type, default: Any = _NEEDED) -> Any:
    value = record.get(name, default) if isinstance(record, dict) else _NEEDED
    if type(value) is not kind and not (kind is int and _is_whole(value)):
        raise _Unreadable(f"no {name} that can be used")
    return int(value) if kind is int else value


def _is_whole(value: Any) -> bool:
    return isinstance(value, Decimal) and value == value.to_integral_value()


def _id(record: Any, name: str) -> str:
    value = _field(record, name, str)
    if not _ID.fullmatch(value):
        raise _Unreadable(f"{name} has not the form of an id")
    return str(value)
