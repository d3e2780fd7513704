"""The API's lists and look-ups with each filter, for bench.portal."""

import random
from datetime import UTC, datetime, timedelta

from bench.http import SECRET
from bench.portal_pages import Known, Ways
from fe.accounts.keys import SCOPES
from fe.clock import system_clock
from fe.http.app import PREFIX
from fe.http.auth.tokens import Tokens
from fe.identifiers import ApiKeyId


def token(known: Known) -> str:
    """Return a token of one of the company's keys for `bench.http --serve`."""
    return Tokens({"bench": SECRET}).issue(ApiKeyId(known.keys[0]), SCOPES, system_clock())


def api_lists(known: Known) -> Ways:
    """Requests of a client, by what they ask for. Filters that no index answers are asked for a month."""
    chance = random.Random(9)
    issued, received = f"{PREFIX}/invoices", f"{PREFIX}/received"

    def day(back: int) -> str:
        return f"{datetime.now(UTC) - timedelta(days=back):%Y-%m-%d}"

    def month() -> str:
        back = chance.randrange(300)
        return f"from={day(back + 30)}&to={day(back)}"

    def days() -> str:
        back = chance.randrange(300)
        return f"issuedFrom={day(back + 30)}&issuedTo={day(back)}"

    def cursor() -> str:
        return f"cursor={chance.choice(known.ids)}"

    return {
        "API: invoices": lambda: issued,
        "API: invoices, after a cursor": lambda: f"{issued}?{cursor()}",
        "API: invoices, a month": lambda: f"{issued}?{month()}",
        "API: invoices, state": lambda: f"{issued}?state=Rechazado",
        "API: invoices, state, a month": lambda: f"{issued}?state=Rechazado&{month()}",
        "API: invoices, dead letters": lambda: f"{issued}?state=dead_letter",
        "API: invoices, encf": lambda: f"{issued}?encf={chance.choice(known.numbers)}",
        "API: invoices, rnc": lambda: f"{issued}?rnc=1{chance.randrange(5000):08}",
        "API: invoices, clientRequestId": lambda: f"{issued}?clientRequestId=order-{chance.randrange(20_000)}",
        "API: invoices, asUser": lambda: f"{issued}?asUser=caja{chance.randrange(7)}@example.do&{month()}",
        "API: invoices, tipoEcf": lambda: f"{issued}?tipoEcf=E34&{month()}",
        "API: invoices, tipoEcf, after a cursor": lambda: f"{issued}?tipoEcf=E46&{cursor()}",
        "API: invoices, issuedFrom and issuedTo": lambda: f"{issued}?{days()}",
        "API: invoices, totals": lambda: f"{issued}?totalFrom=6000&{month()}",
        "API: invoices, totals, after a cursor": lambda: f"{issued}?totalFrom=6000&{month()}&{cursor()}",
        "API: invoices, text": lambda: f"{issued}?text=cliente+{chance.randrange(5000)}&{month()}",
        "API: invoices, text, days of issue": lambda: f"{issued}?text=cliente+77&{days()}",
        "API: invoices, text of nobody": lambda: f"{issued}?text=nadie&{month()}",
        # Filters without a period, of which an index has nothing, little, or a great part of the history.
        "API: invoices, a buyer of nothing": lambda: f"{issued}?rnc=999{chance.randrange(10**6):06}",
        "API: invoices, a user of nothing": lambda: f"{issued}?asUser=nadie{chance.randrange(1000)}@example.do",
        "API: invoices, a user": lambda: f"{issued}?asUser=caja{chance.randrange(7)}@example.do",
        "API: invoices, a type of nothing": lambda: f"{issued}?tipoEcf=E47",
        "API: invoices, the commonest type": lambda: f"{issued}?tipoEcf=E32",
        "API: invoices, the commonest type, after a cursor": lambda: f"{issued}?tipoEcf=E32&{cursor()}",
        "API: received": lambda: received,
        "API: received, after a cursor": lambda: f"{received}?cursor={chance.choice(known.received)}",
        "API: received, rnc": lambda: f"{received}?rnc=1{chance.randrange(400):08}",
        "API: received, encf": lambda: f"{received}?encf=E31{chance.randrange(known.many // 10):010}",
        "API: received, tipoEcf": lambda: f"{received}?tipoEcf=E34&{month()}",
        "API: received, issuedFrom and issuedTo": lambda: f"{received}?{days()}",
        "API: received, totals": lambda: f"{received}?totalFrom=100&totalTo=117&{month()}",
        "API: received, text": lambda: f"{received}?text=suplidora+7&{month()}",
        "API: received, approvalStatus": lambda: f"{received}?approvalStatus=pending&{month()}",
        "API: received, approvalStatus approved": lambda: f"{received}?approvalStatus=approved&{month()}",
        "API: received, approvalStatus rejected": lambda: f"{received}?approvalStatus=rejected&{month()}",
        "API: received, approvalStatus, after a cursor": lambda: (
            f"{received}?approvalStatus=approved&{month()}&cursor={chance.choice(known.received)}"
        ),
        "API: customers": lambda: f"{PREFIX}/customers",
        "API: customers, q": lambda: f"{PREFIX}/customers?q={chance.choice(('hotel', 'mesa', 'zzz'))}",
        "API: customers, rnc": lambda: f"{PREFIX}/customers?rnc=1{chance.randrange(10_000_000):08}",
        "API: products": lambda: f"{PREFIX}/products",
        "API: products, q": lambda: f"{PREFIX}/products?q={chance.choice(('mesa', 'cafe 12', 'zzz'))}",
        "API: products, code": lambda: f"{PREFIX}/products?code=A{chance.randrange(20_000)}",
        "API: a taxpayer": lambda: f"{PREFIX}/rnc/1{1 + chance.randrange(999_999):08}",
    }
