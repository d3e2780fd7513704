"""Steps of the demonstration. Unexpected results are collected, printed, and make the exit code non-zero."""

import hashlib
import json
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from uuid import UUID

import httpx
import trio
from cryptography.hazmat.primitives.serialization import Encoding

from fe.cli.failures import FAILED, INTERRUPTED, OK, Failure
from fe.clock import system_clock
from fe.ecf.certificate import Credential
from fe.ecf.parse import MalformedXml
from fe.ecf.signature import BadSignature, Signer, verify
from fe.identifiers import SubmissionId, TenantId
from fe.integrator.demo.client import Client, DemoOutcome
from fe.integrator.demo.documents import (
    BEYOND,
    CORRECTION,
    DELIVERED,
    FIRST,
    FURNITURE,
    ISSUER_RNC,
    SAMPLES,
    DemoReceipt,
    body_of,
    register,
)
from fe.integrator.demo.other_side import RoundTrip, enter_in_directory, listening
from fe.integrator.demo.people import OPERATOR as OPERATOR_ADDRESS
from fe.integrator.demo.people import OWNER as OWNER_ADDRESS
from fe.integrator.demo.people import DemoPeople, look, make_people
from fe.integrator.demo.relay import DemoRelay, relaying
from fe.integrator.demo.show import Count, Show, TableRow
from fe.integrator.demo.tenant import ENVIRONMENT, DemoTenant, make_buyer, make_credential, make_tenant, world_of
from fe.integrator.stack import Stack, open_stack
from fe.store.postgres.db import open_database
from fe.store.postgres.roles import OPERATOR
from fe.store.records import submissions, taxpayers
from fe.store.records.submissions import Event

#: How long one receipt may take, and any answer. They take about two seconds on a machine with nothing else to do.
_PATIENCE = 120.0
#: It waits for outages in between: a connection that the service is about to close as idle is not used again.
_PAUSING = httpx.Limits(keepalive_expiry=1.0)

_ACCEPTED, _REJECTED = "Aceptado", "Rechazado"


@dataclass(slots=True)
class Scenario:
    """One demonstration."""

    show: Show
    #: Of the service; 0 for a free one.
    port: int
    surprises: list[str] = field(default_factory=list)
    #: Set once everything was shown.
    shown: bool = False

    async def run(self, *, ends: bool) -> None:
        """Show everything, then end, or leave the stack up until cancelled; `code` is the exit code."""
        began = trio.current_time()
        now = system_clock()
        credential = await make_credential(now)
        async with AsyncExitStack() as cleanup:
            self.show.heading("A stack of our own: Postgres, the simulated authority, the service")
            relay = await cleanup.enter_async_context(relaying())
            stack = await cleanup.enter_async_context(
                open_stack(
                    port=self.port,
                    world=world_of(credential),
                    reception_roots=credential.certificate.public_bytes(Encoding.PEM),
                    settings={
                        "FE_AUTHORITY_SIMULATED": "1",
                        "FE_MAIL_RELAY": f"smtp://127.0.0.1:{relay.port}",
                        "FE_MAIL_FROM": "facturas@demo.example",
                    },
                    portal=True,
                    step=self.show.step,
                )
            )
            with self.show.step("Setting up a tenant: fiscal data, certificate, number sequences, API key"):
                async with open_database(stack.dsn, max_size=2, role=OPERATOR) as db:
                    tenant = await make_tenant(db, stack.environment, credential, now)
                    await db.transact(taxpayers.replace, register(), now, "demo")
            http = await cleanup.enter_async_context(
                httpx.AsyncClient(base_url=stack.base_url, trust_env=False, timeout=_PATIENCE, limits=_PAUSING)
            )
            client = Client(http, system_clock)
            with self.show.step("Logging in over HTTP"):
                await client.login(tenant.key.record.api_key_id, tenant.key.secret)
                await client.send("PUT", "/mail", {"enabled": True, "replyTo": "cuentas@rio-ozama.example"})
            try:
                issuing = _Issuing(self, stack, tenant, client, credential)
                await issuing.all()
                await issuing.to_its_buyer()
                people = await self._let_people_in(stack, issuing)
                await issuing.to_hand_over(relay)
            except* Failure:
                self._quote_log(stack)
                raise
            self._conclude(trio.current_time() - began)
            if not ends:
                self._hand_over(stack, tenant, people)
                try:
                    await _while_all_run(stack)
                finally:
                    self.show.line("Stopping everything.")

    @property
    def code(self) -> int:
        """The exit code, as things stand."""
        if not self.shown:
            return INTERRUPTED
        return FAILED if self.surprises else OK

    def _quote_log(self, stack: Stack) -> None:
        """Show the service's last complaints: its log goes away with the stack."""
        log = (stack.folder / "service.log").read_text(encoding="utf-8", errors="replace").splitlines()
        complaints = [line for line in log if '"level": "info"' not in line and '"level": "debug"' not in line]
        for line in complaints[-5:] or log[-5:]:
            self.show.line(f"  service: {line}")

    def _conclude(self, seconds: float) -> None:
        self.shown = True
        if self.surprises:
            self.show.heading(f"Not as expected, after {seconds:.0f} s:")
            for surprise in self.surprises:
                self.show.line(f"  {surprise}")
        else:
            self.show.heading(f"All as expected, in {seconds:.0f} s.")

    async def _let_people_in(self, stack: Stack, issuing: "_Issuing") -> DemoPeople:
        """Create people for the portal, and check a page as one of them."""
        assert stack.portal_url is not None
        self.show.heading("The portal: pages for people, over the same capabilities")
        with self.show.step("Letting in an owner of both companies, and an operator of the installation"):
            async with open_database(stack.dsn, max_size=2, role=OPERATOR) as db:
                people = await make_people(db, stack.environment, issuing.tenant_ids, system_clock())
        with self.show.step("Logging in there, and finding what was issued"):
            path = f"/companies/{issuing.tenant_ids[0]}/{ENVIRONMENT.value}/submissions"
            self.surprises += await look(stack.portal_url, people, path, issuing.last_number)
        return people

    def _hand_over(self, stack: Stack, tenant: DemoTenant, people: DemoPeople) -> None:
        key, secret = tenant.key.record.api_key_id, tenant.key.secret
        login = f'{{"apiKeyId":"{key}","apiSecret":"{secret}"}}'
        token = f"""curl -s '{stack.base_url}/login' -d '{login}' -H 'Content-Type: application/json' | cut -d'"' -f4"""
        self.show.heading("It is yours until Ctrl-C")
        self.show.line(f"  base URL    {stack.base_url}")
        self.show.line(f"  reference   {stack.base_url}/docs")
        self.show.line(f"  API key     {key}  (environment {ENVIRONMENT.value})")
        self.show.line(f"  secret      {secret}")
        self.show.line(f"  portal      {stack.portal_url}")
        self.show.line(f"    owner     {OWNER_ADDRESS}, password {people.owner_password}")
        self.show.line(
            f"    operator  {OPERATOR_ADDRESS}, password {people.operator_password}, and a one-time password"
        )
        self.show.line(f"              of a device (or `oathtool --totp -b`) that is given {people.device_key}")
        self.show.line(f"  authority   {stack.authority['management']}  (what it has seen, and faults to order)")
        self.show.line(
            f"  fe          . {stack.environment_file}  (then `fe key list --tenant ...`, in another terminal)"
        )
        self.show.line("")
        self.show.line(
            "  Your first receipt, for bash and zsh; pasted again it is the same one. A token lasts an hour:"
        )
        self.show.line("  `unset KEY` gets another. docs/api/README.md goes on from here, with these variables:")
        self.show.line("")
        self.show.line(f"  export FE_URL={stack.base_url} FE_API_KEY_ID={key} FE_API_SECRET={secret}")
        self.show.line("")
        # Addresses in quotes, for zsh. Logged in once for each key and shell: a sixth login in a minute is a lockout.
        bearer = """-H "Authorization: Bearer $TOKEN\""""
        first = json.dumps(FIRST, ensure_ascii=False, separators=(",", ":"))
        self.show.line(f"""  [ "$KEY" = {key} ] || {{ KEY={key}; TOKEN=$({token}); }}""")
        self.show.line(
            f"  curl -s '{stack.base_url}/invoices' {bearer} -H 'Content-Type: application/json' -d '{first}'; echo"
        )
        self.show.line(f"  curl -s '{stack.base_url}/invoices?limit=3' {bearer}; echo")


@dataclass(slots=True)
class _Issuing:
    """Submit receipts, and check the results."""

    scenario: Scenario
    stack: Stack
    tenant: DemoTenant
    client: Client
    credential: Credential
    #: Both companies, the seller first, and the number of the last receipt between them.
    tenant_ids: tuple[TenantId, ...] = ()
    last_number: str = ""
    #: The first receipt, whose buyer gets a mail.
    first: DemoOutcome | None = None

    async def all(self) -> None:
        """Issue all samples, then the note that corrects the first, then the one that must be refused."""
        show = self.scenario.show
        show.heading("Receipts of every shape, as structured payloads and as XML")
        outcomes: dict[DemoReceipt, DemoOutcome] = {}
        with show.counting("Handing them in, and asking until the verdict", len(SAMPLES)) as count:
            async with trio.open_nursery() as nursery:
                for sample in SAMPLES:
                    nursery.start_soon(self._one, sample, outcomes, count)
        self.first = first = outcomes[FURNITURE]
        with show.step("Correcting the text of the first, now that it was accepted"):
            outcomes[CORRECTION] = await self._issue(CORRECTION, modified=str(first.record.get("eNCF")))
        with show.step("Handing in a number that the authority never granted"):
            outcomes[BEYOND] = await self._issue(BEYOND)
        with show.step("Fetching and verifying every signed document"):
            rows = [await self._look(sample, outcomes[sample]) for sample in (*SAMPLES, CORRECTION, BEYOND)]
        show.line()
        show.results(rows)
        show.line()
        show.line(f"  The refusal, in the authority's words: {outcomes[BEYOND].words or 'none'}")
        show.line(f"  What became of the number: {outcomes[BEYOND].record.get('numberFate')}")

        show.heading(f"The life of one receipt: {first.record.get('eNCF')}")
        show.life(first, await self._events(first))

    async def to_hand_over(self, relay: DemoRelay) -> None:
        """Show what the buyer of the first receipt gets: a PDF, a page, and a mail."""
        show, first = self.scenario.show, self.first
        assert first is not None
        show.heading("The first receipt, for its buyer")
        with show.step("Printing it, sharing it, and waiting for its mail at the relay"):
            printed = await self._print(first)
            page = await self.client.send("POST", f"/invoices/{first.accepted['taxLogId']}/share", {})
            mail = await relay.first()
        attached = ", ".join(str(part.get_filename()) for part in mail.iter_attachments())
        show.line(f"  PDF/A with the signed XML inside: {printed}")
        show.line(f"  The buyer's page: {page['url']}")
        show.line(f"  The mail, as the relay got it: {mail['Subject']}")
        show.line(f"    to {mail['To']}, with {attached}")

    async def _print(self, outcome: DemoOutcome) -> Path:
        """Save a receipt's PDF where it outlives the demonstration."""
        pdf = await self.client.pdf(outcome.accepted["taxLogId"])
        return await trio.to_thread.run_sync(_keep, f"fe-demo-{outcome.record['eNCF']}-", pdf)

    async def to_its_buyer(self) -> None:
        """Issue one more to a buyer who is a tenant here, and follow it to the other side and back."""
        show = self.scenario.show
        show.heading("Both sides of a receipt: issued, received, told by webhook, approved")
        async with AsyncExitStack() as cleanup:
            system = await cleanup.enter_async_context(listening())
            http = await cleanup.enter_async_context(
                httpx.AsyncClient(base_url=self.stack.base_url, trust_env=False, timeout=_PATIENCE, limits=_PAUSING)
            )
            buyer = Client(http, system_clock)
            with show.step("Setting up the buyer: reception, certificate, API key, a webhook to a listener here"):
                async with open_database(self.stack.dsn, max_size=2, role=OPERATOR) as db:
                    made = await make_buyer(
                        db, self.stack.environment, self.credential, self.tenant.tenant, system_clock()
                    )
                await enter_in_directory(self.stack)
                await buyer.login(made.key.record.api_key_id, made.key.secret)
                webhook = await buyer.send("PUT", "/webhooks", {"url": f"http://127.0.0.1:{system.port}/"})
            self.tenant_ids = (self.tenant.tenant.tenant_id, made.tenant.tenant_id)
            with show.step("The seller issues a receipt to it, and the authority accepts"):
                outcome = await self._issue(DELIVERED)
            self.last_number = str(outcome.record["eNCF"])
            if outcome.record["status"] != _ACCEPTED:
                raise Failure(f"{DELIVERED.title}: {outcome.record['status']} ({outcome.words or 'without a word'})")
            other = RoundTrip(show, self.client, buyer, system, webhook["secret"])
            self.scenario.surprises += await other.follow(outcome)

    async def _one(self, sample: DemoReceipt, outcomes: dict[DemoReceipt, DemoOutcome], count: Count) -> None:
        outcomes[sample] = await self._issue(sample)
        count.one_more()

    async def _issue(self, sample: DemoReceipt, *, modified: str = "") -> DemoOutcome:
        body = await trio.to_thread.run_sync(
            partial(body_of, sample, system_clock(), Signer(self.credential), modified=modified)
        )
        # A test's receipt goes to this address alone.
        notify = {"notify": "compras@brisas.example"} if sample is FURNITURE else {}
        return await self.client.issue(
            {**body, **notify, "clientRequestId": f"demo {sample.title} {sample.file} {sample.e_ncf or ''}".strip()},
            patience=_PATIENCE,
        )

    async def _look(self, sample: DemoReceipt, outcome: DemoOutcome) -> TableRow:
        """Check a result in every way; errors are collected as surprises."""
        record = outcome.record
        e_ncf = record.get("eNCF") or "-"
        wrong: list[str] = []
        expected = _REJECTED if sample is BEYOND else _ACCEPTED
        if record["status"] != expected:
            wrong.append(f"{record['status']}, not {expected} ({outcome.words or 'without a word'})")
        if sample is BEYOND and not outcome.words:
            wrong.append("refused without a message")
        raw = (await self.client.xml(outcome.accepted["taxLogId"])).encode()
        wrong += self._check_signature(raw, record)
        wrong += await self._compare_with_authority(sample, raw, e_ncf)
        self.scenario.surprises += [f"{sample.title} ({sample.format}, {e_ncf}): {what}" for what in wrong]
        return TableRow(
            title=sample.title,
            format=sample.format,
            e_ncf=e_ncf,
            status=record["status"],
            seconds=outcome.seconds,
            verified=wrong[0]
            if wrong
            else "valid; its summary was sent"
            if sample.summarised
            else "valid, and what was sent",
            as_expected=not wrong,
        )

    def _check_signature(self, raw: bytes, record: dict[str, object]) -> list[str]:
        try:
            verified = verify(raw)
        except (BadSignature, MalformedXml) as bad:
            return [f"the signature does not verify: {bad}"]
        wrong = []
        if verified.certificate != self.credential.certificate:
            wrong.append("signed with another certificate than ours")
        of_invoice = verified.root.findtext("Encabezado/CodigoSeguridadeCF") or verified.security_code
        if of_invoice != record["securityCode"]:
            wrong.append(f"its security code is {of_invoice}, not {record['securityCode']}")
        return wrong

    async def _compare_with_authority(self, sample: DemoReceipt, raw: bytes, e_ncf: str) -> list[str]:
        """Ask the other side for its copy."""
        url = f"{self.stack.authority['management']}/documents/{ENVIRONMENT.value}/{ISSUER_RNC}/{e_ncf}"
        async with httpx.AsyncClient(trust_env=False, timeout=_PATIENCE, limits=_PAUSING) as http:
            seen = (await http.get(url)).json()
        if seen.get("distinctBytes") != 1 or len(seen["documents"]) != 1:
            return [f"the authority has {len(seen.get('documents', []))} documents of that number, not one"]
        same = seen["documents"][0]["sha256"] == hashlib.sha256(raw).hexdigest()
        if same == sample.summarised:
            return ["the authority received something else than expected"]
        return []

    async def _events(self, outcome: DemoOutcome) -> Sequence[Event]:
        async with open_database(self.stack.dsn, max_size=2, role=OPERATOR) as db:
            return await db.run(
                submissions.timeline, self.tenant.tenant.tenant_id, SubmissionId(UUID(outcome.accepted["taxLogId"]))
            )


def _keep(prefix: str, pdf: bytes) -> Path:
    file, name = tempfile.mkstemp(prefix=prefix, suffix=".pdf")
    with open(file, "wb") as stream:
        stream.write(pdf)
    return Path(name)


async def _while_all_run(stack: Stack) -> None:
    """Return never, unless we are cancelled; raise Failure when a part of the stack ends by itself."""
    async with trio.open_nursery() as nursery:
        for name, process in stack.processes.items():
            nursery.start_soon(_expect_to_run, name, process)


async def _expect_to_run(name: str, process: trio.Process) -> None:
    code = await process.wait()
    raise Failure(f"the {name} ended by itself with code {code}")
