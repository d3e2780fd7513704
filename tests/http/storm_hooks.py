"""Hooks of schemathesis that supply good receipts and good credentials.

The description cannot say all that makes a receipt good. Random receipts would never be accepted, and links that start
at an accepted one would not be tested. Schemathesis loads this file in its own process (SCHEMATHESIS_HOOKS). It also
repeats each call that a busy server refuses, as the interface tells clients to.
"""

import os
import re
from typing import Any

import schemathesis
from hypothesis import strategies as st
from requests.adapters import HTTPAdapter
from schemathesis import HookContext
from urllib3.util.retry import Retry

from tests.http.closed import closed
from tests.http.front import invoice_payload, structured

_numbered = st.integers(1, 10**10 - 1).map(lambda number: invoice_payload(f"E31{number:010}"))

#: With a number of its own or with one that is drawn, named or not; the few names come again, and make repeats.
_receipts = st.builds(
    lambda payload, more: structured(payload, **more),
    _numbered | st.builds(invoice_payload, st.none(), TipoeCF=st.just("31")),
    st.fixed_dictionaries(
        {},
        optional={"clientRequestId": st.integers(1, 20).map(lambda name: f"r-{name}"), "strict": st.booleans()},
    ),
)
_credentials = st.just({"apiKeyId": os.environ.get("STORM_KEY", ""), "apiSecret": os.environ.get("STORM_SECRET", "")})


#: Repeats of a call that is refused with 503 and Retry-After. After these the 503 counts as a fault.
_REPEATS = 10


class _RepeatBusy(Retry):
    """Repeats what a busy server refuses: a 503 with Retry-After, of any method, and nothing else."""

    RETRY_AFTER_STATUS_CODES = frozenset({503})


_build = HTTPAdapter.__init__


def _build_repeating(self: HTTPAdapter, *args: Any, **options: Any) -> None:
    _build(self, *args, **options)
    self.max_retries = _RepeatBusy(
        _REPEATS, connect=0, read=False, redirect=0, other=0, allowed_methods=None, raise_on_status=False
    )


HTTPAdapter.__init__ = _build_repeating  # type: ignore[method-assign]  # schemathesis makes its sessions itself

#: By the end of the path.
_GOOD = {"invoices": _receipts, "validate": _receipts, "login": _credentials}


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    """Hold answers to what is described and no more, and leave the inside of a payload to the tests of payloads.

    There it has some two hundred elements, each with edges of its own: tens of thousands of calls, all of them about
    documents that chance never makes good.
    """
    schemas = raw_schema["components"]["schemas"]
    schemas["NewStructuredInvoice"]["properties"]["payload"] = {"type": "object"}
    for name in list(schemas):
        if re.match("Ecf|Rfce|Acecf|Anecf", name):
            del schemas[name]
    raw_schema.update(closed(raw_schema))


@schemathesis.hook
def flatmap_body(context: HookContext, body: Any) -> st.SearchStrategy[Any]:
    """Let most bodies be good ones where chance makes none: all that links lead to begins with one that was taken."""
    good = _GOOD.get(context.operation.path.rpartition("/")[2]) if context.operation is not None else None
    return st.just(body) if good is None else st.one_of(good, good, good, st.just(body))
