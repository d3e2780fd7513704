"""Every page of the portal that a browser asks for, with a way to ask for it with other values each time.

The portal's own table of pages says which there are: one that is neither asked for here nor named in `NOT_ASKED` with a
reason is a `Missing` (bench.portal refuses to run then, and so does a test).
"""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg
from psycopg.rows import scalar_row
from werkzeug.routing import Map, Rule

from bench.portal_history import NEWEST
from fe.portal.page_types import Page

_ISSUED = "/companies/<int:company>/<environment>/submissions"
_RECEIVED = "/companies/<int:company>/<environment>/received"
_PAPER = "/companies/<int:company>/<environment>/contingency/paper"
#: Pages that are not measured, and why.
NOT_ASKED = {
    "/healthz": "no page: a word for probes",
    "/readyz": "no page: a word for probes, and a look at the database",
    "/sign-in/openid": "sends to a provider, whose discovery it waits for",
    "/sign-in/openid/answer": "waits for the provider",
    "/again/openid": "sends to a provider",
    "/invitation/<token>/openid": "sends to a provider",
    f"{_ISSUED}/export": "a file of up to 10,000 rows, made for a spreadsheet and not for somebody who waits",
    f"{_RECEIVED}/export": "a file, as that of receipts",
    "/companies/<int:company>/changes/export": "a file, as that of receipts",
    **dict.fromkeys(
        (f"/companies/<int:company>/{kind}/entry/<entry>" for kind in ("customers", "products")),
        "one row by its key, in the form of a new one",
    ),
    **dict.fromkeys(
        (f"/companies/<int:company>/{kind}/import/template" for kind in ("customers", "products")),
        "a file of one line that asks nothing of the database",
    ),
    "/companies/<int:company>/<environment>/imports/templates/<type>": "a file that asks nothing of the database",
    "/companies/<int:company>/<environment>/imports/<uuid:import>/workbook": "a file, made by the pool of processes",
    "/companies/<int:company>/<environment>/days/<day>/csv": "the sums of the page, as a file",
    "/companies/<int:company>/<environment>/months/<month>/csv": "a file, as that of receipts",
    "/companies/<int:company>/<environment>/months/<month>/xlsx": "a file, as that of receipts",
    "/companies/<int:company>/<environment>/months/<month>/zip": "a ZIP, sent while it is made",
    **dict.fromkeys(
        (f"/companies/<int:company>/<environment>/archive/{name}" for name in ("<int:number>.zip", "<int:number>.tst")),
        "a file of the archive's store, which the benchmark has none of",
    ),
    "/companies/<int:company>/<environment>/archive/verifier": "a file that asks nothing of the database",
    "/months/zip": "a file, as that of receipts",
    "/companies/<int:company>/<environment>/months/<month>/606.txt": "a file, as that of receipts",
    "/companies/<int:company>/<environment>/months/<month>/608.txt": "a file, as that of receipts",
    "/companies/<int:company>/<environment>/voidings/<uuid:voiding>": "one row by its key: the benchmark voids nothing",
    "/companies/<int:company>/<environment>/voidings/<uuid:voiding>/xml": "a file of one row",
    f"{_PAPER}/<ncf>": "one row by its key: the benchmark issues nothing on paper",
    f"{_PAPER}/<ncf>/pdf": "printed",
    f"{_PAPER}/new/<type>/<uuid:draft>": "the form of a draft, as that of receipts",
    f"{_ISSUED}/<uuid:submission>/pdf": "printed by a process of the pool for large documents, at low priority",
    f"{_RECEIVED}/decide": "of receipts that wait, which the benchmark has none of",
    f"{_RECEIVED}/<uuid:received>/pdf": "printed as a receipt is",
    "/companies/<int:company>/certification/evidence": "a ZIP of the set, which the benchmark has none of",
    "/companies/<int:company>/certification/pdfs": "printed, of a simulation, which the benchmark has none of",
    "/companies/<int:company>/certification/signed/<uuid:task>": "a file of one row",
    "/operators/dead-letters.csv": "a file, as that of receipts",
}


class Missing(Exception):
    """A page is not measured, or an exception names a page that does not exist."""


@dataclass(frozen=True)
class Known:
    """Values to request pages with."""

    ids: list[str]
    received: list[str]
    numbers: list[str]
    dead: list[str]
    deliveries: list[str]
    keys: list[str]
    certificates: list[str]
    users: list[str]
    people: list[str]
    plans: list[str]
    actions: list[str]
    drafts: list[str]
    imports: list[str]
    recurring: list[str]
    many: int
    #: Tokens in the links of an invitation and of a new password.
    invitation: str
    reset: str
    #: Where the style sheet is.
    style: str

    @classmethod
    def of(cls, dsn: str, many: int, **more: str) -> "Known":
        """Look up what there is."""
        with psycopg.connect(dsn, autocommit=True, row_factory=scalar_row) as conn:

            def found(statement: str) -> list[str]:
                return [str(one) for one in conn.execute(statement.encode())]

            return cls(
                ids=found(
                    """SELECT submission_id FROM submissions WHERE environment = 'ecf' AND root = 'ECF'
                        ORDER BY 1 DESC LIMIT 5000"""
                ),
                received=found("SELECT received_id FROM received WHERE environment = 'ecf' ORDER BY 1 DESC LIMIT 1900"),
                numbers=found(
                    """SELECT e_ncf FROM submissions WHERE environment = 'ecf' AND root = 'ECF'
                        ORDER BY md5(e_ncf) LIMIT 5000"""
                ),
                dead=found("SELECT subject FROM dead_letters"),
                deliveries=found("SELECT subject FROM webhook_deliveries WHERE environment = 'ecf' LIMIT 5000"),
                keys=found("SELECT api_key_id FROM api_keys"),
                certificates=found("SELECT certificate_id FROM certificates"),
                users=found("SELECT user_id FROM users"),
                people=found("SELECT person_id FROM memberships"),
                plans=found("SELECT plan_id FROM replay_plans ORDER BY created_at DESC LIMIT 5"),
                actions=found("SELECT action_id FROM pending_actions"),
                drafts=found("SELECT draft_id FROM portal_drafts"),
                imports=found("SELECT import_id FROM imports"),
                recurring=found("SELECT recurring_id FROM recurring_receipts LIMIT 1000"),
                many=many,
                **more,
            )

    @classmethod
    def nothing(cls) -> "Known":
        """Stands for it where only the pages matter, not what is on them."""
        some = ["00000000-0000-7000-8000-000000000000"]
        return cls(
            ids=some,
            received=some,
            numbers=some,
            dead=some,
            deliveries=some,
            keys=some,
            certificates=some,
            users=some,
            people=some,
            plans=some,
            actions=some,
            drafts=some,
            imports=some,
            recurring=some,
            many=10,
            invitation="t",
            reset="t",
            style="/static/0/portal.css",
        )


Ways = Mapping[str, Callable[[], str]]


def company_pages(company: int, known: Known) -> Ways:
    """Requests of a company's owner."""
    chance = random.Random(7)
    one = chance.choice
    at = f"/companies/{company}"
    issued, received, hooks = f"{at}/ecf/submissions", f"{at}/ecf/received", f"{at}/ecf/webhooks"

    def day(back: int) -> str:
        return f"{datetime.now(UTC) - timedelta(days=back):%Y-%m-%d}"

    def month() -> str:
        return f"{datetime.now(UTC) - timedelta(days=chance.randrange(300)):%Y-%m}"

    def before() -> str:
        moment = int((time.time() - 86400 * chance.randrange(300)) * 1000)
        return f"{moment:012x}"[:8] + f"-{moment & 0xFFFF:04x}-7000-8000-000000000000"

    def buyer() -> str:
        return f"1{chance.randrange(5000):08}"

    return {
        "company: overview": lambda: at,
        "receipts, newest": lambda: issued,
        "receipts, further down": lambda: f"{issued}?before={before()}",
        "receipts of testecf": lambda: f"{at}/testecf/submissions",
        "receipts of certecf (none)": lambda: f"{at}/certecf/submissions",
        "accepted": lambda: f"{issued}?state=accepted",
        "conditional": lambda: f"{issued}?state=conditional&before={before()}",
        "rejected": lambda: f"{issued}?state=rejected&before={before()}",
        "failed": lambda: f"{issued}?state=error&before={before()}",
        "on their way": lambda: f"{issued}?state=waiting",
        "receipts that gave up": lambda: f"{issued}?state=dead",
        "a type": lambda: f"{issued}?type=34&before={before()}",
        "a rare type": lambda: f"{issued}?type=46",
        "a type, rejected": lambda: f"{issued}?type=34&state=rejected&before={before()}",
        "a period": lambda: f"{issued}?since={day(chance.randrange(100, 300))}&until={day(chance.randrange(99))}",
        "a period, rejected": lambda: f"{issued}?state=rejected&since={day(200)}&until={day(chance.randrange(199))}",
        "a buyer": lambda: f"{issued}?buyer={buyer()}",
        "a buyer, rejected": lambda: f"{issued}?buyer={buyer()}&state=rejected",
        "a buyer, by name": lambda: f"{issued}?text=cliente+{chance.randrange(5000)}",
        "a buyer, by name, a period": lambda: f"{issued}?text=cliente+{chance.randrange(5000)}&since={day(200)}",
        "a name of nobody": lambda: f"{issued}?text=nadie",
        "an amount": lambda: f"{issued}?total_from={1180 + chance.randrange(5000)}&total_to=6200",
        "an amount, a type, a state": lambda: f"{issued}?total_from=6000&type=34&state=conditional",
        "days of issue": lambda: (
            f"{issued}?issued_from={day(chance.randrange(100, 300))}&issued_to={day(chance.randrange(99))}"
        ),
        "days of issue, a name, an amount": lambda: (
            f"{issued}?issued_from={day(200)}&issued_to={day(chance.randrange(99))}&text=cliente+12&total_from=5000"
        ),
        "a user": lambda: f"{issued}?user=caja{chance.randrange(7)}@example.do",
        "a user, rejected, a type": lambda: f"{issued}?user=caja3@example.do&state=rejected&type=34",
        "search: e-NCF": lambda: f"{issued}?q={one(known.numbers)}",
        "search: trackId": lambda: f"{issued}?q=track-{chance.randrange(known.many)}",
        "search: clientRequestId": lambda: f"{issued}?q=order-{chance.randrange(NEWEST)}",
        "search: nothing": lambda: f"{issued}?q=nobody-{chance.randrange(NEWEST)}",
        "one receipt": lambda: f"{issued}/{one(known.ids)}",
        "one receipt's XML": lambda: f"{issued}/{one(known.ids)}/signed",
        "received, newest": lambda: received,
        "received, further down": lambda: f"{received}?before={before()}",
        "received of testecf": lambda: f"{at}/testecf/received",
        "received from an issuer": lambda: f"{received}?issuer=1{chance.randrange(400):08}",
        "received, a number": lambda: f"{received}?number=E31{chance.randrange(known.many // 10):010}",
        "received, not decided": lambda: f"{received}?state=pending",
        "received, a type": lambda: f"{received}?type=34",
        "received, a name": lambda: f"{received}?text=suplidora+{chance.randrange(400)}",
        "received, a name of nobody": lambda: f"{received}?text=nadie",
        "received, an amount": lambda: f"{received}?total_from=100&total_to=117",
        "received, days of issue": lambda: (
            f"{received}?issued_from={day(chance.randrange(100, 300))}&issued_to={day(50)}"
        ),
        "received, days of issue, a name": lambda: f"{received}?issued_from={day(300)}&text=suplidora+7",
        "received, not decided, further down": lambda: f"{received}?state=pending&before={before()}",
        "received, approved": lambda: f"{received}?state=approved",
        "received, approved, further down": lambda: f"{received}?state=approved&before={before()}",
        "received, rejected": lambda: f"{received}?state=rejected",
        "one received document": lambda: f"{received}/{one(known.received)}",
        "one received document's XML": lambda: f"{received}/{one(known.received)}/document",
        "new receipt: which": lambda: f"{at}/ecf/new",
        "new receipt: customers as one types": lambda: (
            f"{at}/ecf/new/options?of=customer&q={one(('ho', '1318', 'colmado mesa', 'zzz'))}"
        ),
        "new receipt: a taxpayer": lambda: f"{at}/ecf/new/options?of=customer&q=1{chance.randrange(10**6):08}",
        "new receipt: products as one types": lambda: f"{at}/ecf/new/options?of=product&q={one(('ca', 'mesa', 'x'))}",
        "new receipt: the form": lambda: f"{at}/ecf/new/{one(('31', '32', '33', '34', '41', '47'))}",
        "new receipt: a copy": lambda: f"{at}/ecf/new/copy?from={one(known.ids)}",
        "new receipt: lines that come back": lambda: f"{at}/ecf/new/return?from={one(known.ids)}",
        "new receipt: a draft": lambda: f"{at}/ecf/new/31/{one(known.drafts)}",
        "imports": lambda: f"{at}/ecf/imports",
        "one import": lambda: f"{at}/ecf/imports/{one(known.imports)}",
        "recurring receipts": lambda: f"{at}/ecf/recurring",
        "a receipt to repeat": lambda: f"{at}/ecf/recurring/new?from={one(known.ids)}",
        "one recurring receipt": lambda: f"{at}/ecf/recurring/{one(known.recurring)}",
        "days": lambda: f"{at}/ecf/days",
        "close of a day": lambda: f"{at}/ecf/days/{day(chance.randrange(100))}",
        "months": lambda: f"{at}/ecf/months",
        "a month": lambda: f"{at}/ecf/months/{month()}",
        # With all that is on its way, and that gave up.
        "this month": lambda: f"{at}/ecf/months/{day(0)[:7]}",
        "purchases of a month (606)": lambda: f"{at}/ecf/months/{month()}/606",
        # Suppliers with 7 as the last digit had all their receipts rejected (bench/portal_shop.py).
        "purchases of a supplier": lambda: f"{at}/ecf/months/{month()}/606/1{chance.randrange(40) * 10:08}",
        "contingency": lambda: f"{at}/ecf/contingency",
        "paper receipts": lambda: f"{at}/ecf/contingency/paper",
        "voidings": lambda: f"{at}/ecf/voidings",
        "archive": lambda: f"{at}/ecf/archive",
        "sequences": lambda: f"{at}/ecf/sequences",
        "one sequence": lambda: f"{at}/ecf/sequences/{one(('E31', 'E32', 'E34'))}",
        "one sequence, further down": lambda: f"{at}/ecf/sequences/E32?upto={chance.randrange(known.many // 2) + 1}",
        "usage, 30 days": lambda: f"{at}/ecf/usage",
        "usage, 180 days": lambda: f"{at}/ecf/usage?from={day(180)}&to={day(1)}",
        "usage as CSV": lambda: f"{at}/ecf/usage.csv?from={day(180)}&to={day(1)}",
        "billing": lambda: f"{at}/billing",
        "webhooks": lambda: hooks,
        "webhook's secret": lambda: f"{hooks}/secret",
        "deliveries": lambda: f"{hooks}/deliveries",
        "deliveries, further down": lambda: f"{hooks}/deliveries?before={one(known.deliveries)}",
        "deliveries, failed": lambda: f"{hooks}/deliveries?state=failed",
        "deliveries, of a kind": lambda: f"{hooks}/deliveries?event=submission.accepted",
        "deliveries, of a kind (none)": lambda: f"{hooks}/deliveries?event=certificate.expiring",
        "deliveries, about one": lambda: f"{hooks}/deliveries?about={one(known.deliveries)}",
        "deliveries, a period": lambda: f"{hooks}/deliveries?from={day(20)}&to={day(chance.randrange(19))}",
        "one delivery": lambda: f"{hooks}/deliveries/{one(known.deliveries)}",
        "customers": lambda: f"{at}/customers",
        "customers, a search": lambda: f"{at}/customers?q={one(('ho', '1318', 'mesa', 'zzz'))}",
        "new customer": lambda: f"{at}/customers/new",
        "customers from a file": lambda: f"{at}/customers/import",
        "products": lambda: f"{at}/products",
        "products, a search": lambda: f"{at}/products?q={one(('ca', 'mesa', 'x'))}",
        "new product": lambda: f"{at}/products/new",
        "products from a file": lambda: f"{at}/products/import",
        "company data": lambda: f"{at}/settings",
        "print settings": lambda: f"{at}/printing",
        "mail to buyers": lambda: f"{at}/mail",
        "users": lambda: f"{at}/users",
        "one user": lambda: f"{at}/users/{one(known.users)}",
        "new user": lambda: f"{at}/users/new",
        "certificates": lambda: f"{at}/certificates",
        "one certificate": lambda: f"{at}/certificates/{one(known.certificates)}",
        "certification": lambda: f"{at}/certification",
        "going live": lambda: f"{at}/certification/live",
        "new certificate": lambda: f"{at}/certificates/new",
        "keys": lambda: f"{at}/keys",
        "one key": lambda: f"{at}/keys/{one(known.keys)}",
        "failed requests": lambda: f"{at}/ecf/requests",
        "new key": lambda: f"{at}/keys/new",
        "people": lambda: f"{at}/people",
        "one member": lambda: f"{at}/people/{one(known.people)}",
        "invite": lambda: f"{at}/people/invite",
        "changes": lambda: f"{at}/changes",
        "changes of a kind": lambda: f"{at}/changes?kind=webhook+set",
        "account": lambda: "/account",
        "password": lambda: "/account/password",
        "second factor": lambda: "/account/second-factor",
        "again": lambda: "/again",
    }


def operators_pages(company: int, known: Known) -> Ways:
    """Requests of an operator."""
    chance = random.Random(8)
    at = "/operators"
    return {
        "home": lambda: "/",
        "switch of the company": lambda: "/switch?to=ecf/received",
        "month of all companies": lambda: f"/months?month={datetime.now(UTC):%Y-%m}",
        "installation": lambda: at,
        "dead letters": lambda: f"{at}/dead-letters",
        "dead letters, by error": lambda: f"{at}/dead-letters?error=503&stage=send",
        "dead letters, by e-NCF": lambda: f"{at}/dead-letters?e_ncf={chance.choice(known.numbers)}",
        "one dead letter": lambda: f"{at}/dead-letters/{chance.choice(known.dead)}",
        "unknown outcomes": lambda: f"{at}/in-doubt",
        "pauses": lambda: f"{at}/pauses",
        "keys for providers": lambda: f"{at}/keys",
        "lockouts": lambda: f"{at}/lockouts",
        "replays": lambda: f"{at}/replays",
        "one replay": lambda: f"{at}/replays/{chance.choice(known.plans)}",
        "runbook": lambda: f"{at}/runbooks/database",
        "approvals": lambda: f"{at}/approvals",
        "one approval": lambda: f"{at}/approvals/{chance.choice(known.actions)}",
        "acts": lambda: f"{at}/actions",
        "tenants": lambda: f"{at}/companies",
        "tenants, a search": lambda: f"{at}/companies?q={chance.randrange(100)}",
        "one tenant": lambda: f"{at}/companies/{company}",
        "new tenant": lambda: f"{at}/companies/new",
    }


def accountants_pages() -> Ways:
    """Requests of an accountant of several companies."""
    return {
        "inbox of an accountant": lambda: "/",
        "switch of an accountant": lambda: "/switch?q=otra",
        "month of an accountant": lambda: f"/months?month={datetime.now(UTC):%Y-%m}",
    }


def strangers_pages(known: Known) -> Ways:
    """Requests of a visitor who is not signed in."""
    return {
        "sign in": lambda: "/sign-in",
        "invitation": lambda: f"/invitation/{known.invitation}",
        "forgotten password": lambda: "/forgotten",
        "new password": lambda: f"/reset/{known.reset}",
        "style sheet": lambda: known.style,
    }


def halfway_pages() -> Ways:
    """Requests of an operator who has entered the password and not yet the code."""
    return {"code": lambda: "/sign-in/code"}


def every_way(company: int, known: Known) -> Ways:
    """All of it."""
    return {
        **company_pages(company, known),
        **operators_pages(company, known),
        **strangers_pages(known),
        **halfway_pages(),
    }


def require_all(pages: Iterable[Page], ways: Ways) -> None:
    """See that each page is asked for, or is not for a reason. Raises Missing."""
    there = [page.path for page in pages if page.method == "GET"]
    addresses = Map([Rule(path, endpoint=path) for path in there]).bind("bench")
    asked = {str(addresses.match(way().partition("?")[0])[0]) for way in ways.values()}
    if missing := sorted(set(there) - asked - set(NOT_ASKED)):
        raise Missing(f"nobody measures {', '.join(missing)}")
    if idle := sorted(set(NOT_ASKED) - set(there) | (set(NOT_ASKED) & asked)):
        raise Missing(f"reasons for what is not there, or is measured: {', '.join(idle)}")
