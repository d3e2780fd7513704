"""One request as its page sees it: the person, the company, the form, and the ways to answer."""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlencode
from uuid import UUID

import structlog

from fe.accounts import audited_changes
from fe.accounts.audited_changes import Author
from fe.archiving.documents import ArchiveAway, ArchiveDiffers
from fe.ecf.catalogue import Environment
from fe.ecf.texts import Language, Text
from fe.http.errors import describe
from fe.http.paging import read_in_turn
from fe.identifiers import SubmissionId, TenantId
from fe.portal.deps import Portal
from fe.portal.forms import digest
from fe.portal.replies import CHANGED_MEANWHILE, SENT_TWICE, Headers, Refused, Reply, not_found, redirect
from fe.portal.session import Session, form_proof
from fe.store.portal import sessions
from fe.store.portal.changes import ChangeAction
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import tenants
from fe.store.records.tenants import Tenant

_log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent, whole; its name is what the browser says."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """A sent form: each field's values in order, and files."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[str, Upload] = field(default_factory=dict)

    def get(self, name: str, default: str = "") -> str:
        """The first value of a field, without blanks around it."""
        values = self.fields.get(name)
        return values[0].strip() if values else default

    def verbatim(self, name: str) -> str:
        """The first value of a field as it was typed: passwords may begin with blanks."""
        values = self.fields.get(name)
        return values[0] if values else ""

    def every(self, name: str) -> Sequence[str]:
        """All values of a field."""
        return self.fields.get(name, ())

    def has(self, name: str) -> bool:
        """Tell whether a box was ticked."""
        return name in self.fields


@dataclass(frozen=True, slots=True)
class Company:
    """The page's tenant, and the person's rights there."""

    tenant: Tenant
    role: PortalRole
    #: Whether an accountant approves and rejects received receipts.
    may_answer: bool = False
    #: Why receipts of the page's environment do not go out now; None: they do.
    held: Text | None = None
    #: Whether it is because the authority does not answer.
    is_cut_off: bool = False

    @property
    def writes(self) -> bool:
        """Whether more than reading is allowed."""
        return self.role is not PortalRole.ACCOUNTANT

    @property
    def answers(self) -> bool:
        """Whether received receipts may be approved and rejected."""
        return self.writes or self.may_answer

    @property
    def owns(self) -> bool:
        """Whether everything is."""
        return self.role is PortalRole.OWNER


@dataclass(slots=True)
class Visit:
    """A request. `token` is that of the session, or of a browser without one."""

    portal: Portal
    method: str
    #: The path as it was asked for, and the rule it fits.
    path: str
    rule: str
    params: Mapping[str, Any]
    query: Mapping[str, str]
    form: Form
    language: Language
    address: str
    user_agent: str
    request_id: str
    token: str
    session: Session | None = None
    #: The address of our page that a form was sent from, with its query, as far as browsers say; else ''.
    came_from: str = ""
    #: Whether the form is of a session before, and nothing may be done of what it says.
    is_stale: bool = False
    #: Set for pages whose address has `<company>` in it.
    of_company: Company | None = None
    #: Closed when the answer was sent, or the browser has left.
    until_sent: ExitStack = field(default_factory=ExitStack)
    #: Headers of the answer beside its own.
    headers: list[tuple[str, str]] = field(default_factory=list)

    @property
    def person(self) -> Session:
        """Return the session on a page that requires one."""
        assert self.session is not None
        return self.session

    @property
    def company(self) -> Company:
        """The company of a page that is about one."""
        assert self.of_company is not None
        return self.of_company

    @property
    def tenant_id(self) -> TenantId:
        """Return the page's tenant."""
        return self.company.tenant.tenant_id

    @property
    def environment(self) -> Environment:
        """The environment in the address. Raises Refused for one that is none."""
        try:
            return Environment(self.params["environment"])
        except ValueError:
            raise not_found() from None

    @property
    def now(self) -> datetime:
        """The time."""
        return self.portal.clock()

    @property
    def by_whom(self) -> str:
        """Return the person's name in records."""
        return self.person.person.email

    @property
    def author(self) -> Author:
        """Return the person as author of a change."""
        return Author(self.by_whom, self.now, "portal", self.person.person.person_id)

    @property
    def csrf(self) -> str:
        """Return the value of the field `csrf` of every form."""
        return form_proof(self.portal.form_keys[0], self.token)

    # -- the database ------------------------------------------------------------------------------------------------

    async def read(self, work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]], *a: P.args, **k: P.kwargs) -> T:
        """Run `work(conn, tenant_id, ...)` as one statement that sees the company's rows alone."""
        return await self.portal.db.run_for(self.tenant_id, work, *a, **k)

    async def documents(self, submission_id: SubmissionId) -> Mapping[str, bytes]:
        """Return the documents of a receipt by kind, from the archive where they left the database. Raises Refused."""
        try:
            return await self.portal.documents.every(self.tenant_id, submission_id)
        except (ArchiveAway, ArchiveDiffers) as error:
            answer = describe(error)
            raise Refused(answer.status, answer.message) from None

    async def read_list(
        self, work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]], *a: P.args, **k: P.kwargs
    ) -> T:
        """Like `read`, for a list, whose cost grows with the history: limited to the tenant's turns for lists.

        Raises TurnTimeout.
        """
        return await read_in_turn(self.portal.db, self.portal.lists, self.tenant_id, work, *a, **k)

    async def change(self, work: Callable[Concatenate[Conn, P], Awaitable[T]], *a: P.args, **k: P.kwargs) -> T:
        """Run `work(conn, ...)` in one transaction that sees the company's rows alone, once for each form.

        A form carries `form` (the macro `form_start` puts it there). Raises Refused where it was sent before.
        """
        return await self.portal.db.transact_for(self.tenant_id, partial(self._once, work), *a, **k)

    async def locked_tenant(self, conn: Conn) -> Tenant:
        """Lock the company's row until the transaction ends, and return it. Raises Refused where it is gone."""
        tenant = await tenants.locked(conn, self.tenant_id)
        if tenant is None:
            raise not_found()
        return tenant

    async def commit_form(self, work: Callable[Concatenate[Conn, P], Awaitable[T]], *a: P.args, **k: P.kwargs) -> T:
        """Run `work(conn, ...)` in one transaction for the current person, once per form, like `change`."""
        return await self.portal.db.transact(partial(self._once, work), *a, **k)

    async def note(
        self,
        conn: Conn,
        action: ChangeAction,
        subject: str,
        before: dict[str, Any] | None,
        after: dict[str, Any] | None,
    ) -> None:
        """Keep what is changed for the company, in the transaction that changes it; nothing secret."""
        await audited_changes.note(conn, self.company.tenant, self.author, action, subject, before, after)

    async def run_operation(self, work: Callable[Concatenate[Conn, P], Awaitable[T]], *a: P.args, **k: P.kwargs) -> T:
        """Run `work(conn, ...)` in one transaction with the rights of an operator, once for each form.

        Raises Refused where the form was sent before.
        """
        return await self.operators.transact(partial(self._once, work), *a, **k)

    @property
    def operators(self) -> Database:
        """The database with the rights of an operator. Raises Refused where this process has none."""
        if self.portal.operators is None:
            raise not_found()
        return self.portal.operators

    async def _once(self, work: Callable[..., Awaitable[T]], conn: Conn, *args: Any, **kwargs: Any) -> T:
        try:
            form_id = UUID(self.form.get("form"))
        except ValueError:
            raise Refused(400, CHANGED_MEANWHILE) from None
        if not await sessions.send_once(conn, form_id, self.now):
            raise Refused(409, SENT_TWICE)
        return await work(conn, *args, **kwargs)

    # -- answers -----------------------------------------------------------------------------------------------------

    def page(self, template: str, status: int = 200, **values: Any) -> Reply:
        """Answer with a page: the template sees `visit`, `t`, `csrf` and these values."""
        body = self.portal.render(template, self.language, visit=self, csrf=self.csrf, **values)
        return Reply(status, body.encode(), self._with(()))

    async def go(self, to: str, notice: Text | None = None) -> Reply:
        """Send the browser on after something was done; the next page says `notice`, once, if it can be kept."""
        if notice is not None and self.session is not None:
            said = {"en": notice.en, "es": notice.es}
            try:
                await self.portal.db.run(sessions.leave_notice, self.session.record.token_hash, said)
            except DatabaseUnavailable as away:  # it is done, whatever is said of it
                _log.warning("page notice not stored", reason=str(away))
        reply = redirect(to)
        return replace(reply, headers=self._with(reply.headers))

    def file(self, name: str, content_type: str, body: bytes, *, inline: bool = False) -> Reply:
        """Answer with a file to keep, or one to show (`inline`). `name` has only letters, digits, dots and dashes."""
        assert name.replace(".", "").replace("-", "").isalnum()
        disposition = f'{"inline" if inline else "attachment"}; filename="{name}"'
        return Reply(200, body, self._with((("Content-Type", content_type), ("Content-Disposition", disposition))))

    def streamed(self, name: str, content_type: str, stream: AsyncGenerator[bytes, None]) -> Reply:
        """Answer with a file to keep that is sent while it is made."""
        return replace(self.file(name, content_type, b""), stream=stream)

    def _with(self, more: Headers) -> Headers:
        return (*more, *self.headers)

    # -- addresses and forms -----------------------------------------------------------------------------------------

    @property
    def here(self) -> Environment:
        """The environment of the page, or the one that a page of the whole company was reached from."""
        named = self.params.get("environment") or self.query.get("environment")
        return Environment(named) if named in list(Environment) else Environment.ECF

    @property
    def address_shown(self) -> str:
        """The address of the page that the browser shows, with its query; of a form that was sent, of the form."""
        if self.method != "GET":
            return self.came_from or "/"
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    @property
    def section(self) -> str:
        """The part of this page's address that pages of other companies have, too: `ecf/submissions`, `people`."""
        parts = self.path.split("/")[3:]
        return "/".join(parts[: 2 if parts and parts[0] in list(Environment) else 1])

    def at(self, path: str) -> str:
        """The address of a page of the company: `visit.at("keys")`.

        It names the environment of this page, so that each tab stays in its own; production goes without saying.
        """
        address = f"/companies/{self.tenant_id}/{path}".rstrip("/")
        if self.here is Environment.ECF or path.partition("/")[0] in list(Environment):
            return address
        return f"{address}{'&' if '?' in address else '?'}environment={self.here}"

    def within(self, path: str) -> str:
        """The address of a page of the company in the environment of this page: `visit.within("submissions")`."""
        return self.at(f"{self.environment}/{path}")

    def require_unchanged(self, shown: Any) -> None:
        """See that a form was made from what is there now: its field `shown` is `digest(shown)`. Raises Refused."""
        if not secrets.compare_digest(self.form.get("shown").encode(), digest(shown).encode()):
            raise Refused(409, CHANGED_MEANWHILE)
