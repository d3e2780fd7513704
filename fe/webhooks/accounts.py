"""Where a tenant wants to be called: set, shown, tried and caught up with, for the API and for operators alike."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from fe.config import Settings
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.ecf.texts import LocalizedError, Text
from fe.egress.configured import policy_from_settings
from fe.egress.target import BadTarget, Policy, read_target
from fe.identifiers import TenantId
from fe.lifecycle import WANTED, WebhookEvent
from fe.store.postgres.db import Conn
from fe.store.webhooks import deliveries, endpoints, events, recoveries
from fe.store.webhooks.endpoints import DEFAULT, Endpoint
from fe.store.webhooks.recoveries import RecoveryRecord
from fe.webhooks.events import sample_body
from fe.webhooks.headers import BadHeaders, check_headers
from fe.webhooks.secrets import WebhookVault, webhook_vault
from fe.webhooks.signature import new_secret

#: Default events of an endpoint (interface.md#events).
DEFAULT_EVENTS = (WebhookEvent.RECEIVED_ECF,)

#: Endpoints of a tenant in one environment. Each event is sent to each that wants it.
MAX_ENDPOINTS = 10
#: The name of an endpoint.
NAME_FORM = "[a-z0-9][a-z0-9-]{0,39}"


class WebhookRefused(LocalizedError):
    """The change was rejected and nothing was written. The message may be shown to the tenant."""


class BadWebhook(WebhookRefused):
    """An address, a header or a kind of event that is not allowed; the message names the field."""


class NoWebhook(WebhookRefused):
    """No address is set."""

    def __init__(self, environment: Environment, name: str = DEFAULT) -> None:
        self.is_default = name == DEFAULT
        if not self.is_default:
            super().__init__(
                Text(
                    f"there is no webhook endpoint {name} in {environment}",
                    f"no hay un webhook {name} en {environment}",
                )
            )
            return
        super().__init__(Text(f"no webhook is set in {environment}", f"no hay un webhook configurado en {environment}"))


class NotNow(WebhookRefused):
    """It can be asked for again later: of what is under way there is one at a time."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tenant's wanted endpoint. `headers` None keeps the current ones."""

    url: str
    enabled: bool = True
    events: Sequence[str] = DEFAULT_EVENTS
    headers: Mapping[str, str] | None = None
    #: Names of existing headers to keep beside `headers`. A name that is in `headers`, too, gets its value from there.
    kept: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class EndpointView:
    """An endpoint as its tenant may see it. `secret` only where it has just been made."""

    endpoint: Endpoint
    header_names: Sequence[str]
    old_secret_until: datetime | None
    secret: str | None = None

    @property
    def audit_record(self) -> dict[str, Any]:
        """Show the endpoint in the tenant's changes, without secrets; headers by name only."""
        return {
            "url": self.endpoint.url,
            "enabled": self.endpoint.enabled,
            "events": list(self.endpoint.events),
            "headers": list(self.header_names),
        }


class WebhookAccounts:
    """Operations on webhooks. Each runs on one connection and leaves no partial change."""

    def __init__(self, vault: WebhookVault, policy: Policy) -> None:
        """Take what encrypts secrets and headers, and what the installation allows as an address."""
        self._vault = vault
        self._policy = policy

    async def shown(
        self, conn: Conn, tenant_id: TenantId, environment: Environment, at: datetime, *, locked: bool = False
    ) -> list[EndpointView]:
        """Show every endpoint of an environment, and the one of all of them.

        `locked`: as it is until the transaction of the caller ends.
        """
        if locked:
            await endpoints.lock_changes(conn, tenant_id)
        found = await endpoints.listed(conn, tenant_id)
        return [await self._show(conn, one, at) for one in found if one.environment in (environment, None)]

    async def put(
        self,
        conn: Conn,
        tenant_id: TenantId,
        environment: Environment | None,
        wanted: Wanted,
        at: datetime,
        *,
        name: str = DEFAULT,
    ) -> EndpointView:
        """Create or change an endpoint of an environment; the secret of a new one is returned.

        Enabling it delivers its held events. Raises BadWebhook.
        """
        url, kinds = self._check(wanted)
        async with conn.transaction():
            await endpoints.lock_changes(conn, tenant_id)
            before = await endpoints.of_environment(conn, tenant_id, environment, name)
            if before is None:
                await self._require_room(conn, tenant_id, environment)
                return await self._add(conn, tenant_id, environment, name, replace(wanted, url=url), kinds, at)
            headers = None
            if wanted.headers is not None:
                headers = self._encrypt_headers(
                    tenant_id, before.endpoint_id, self._beside(before, wanted.kept, wanted.headers)
                )
            changed = await endpoints.change(
                conn,
                tenant_id,
                before.endpoint_id,
                url=url,
                enabled=wanted.enabled,
                events=kinds,
                headers=headers,
                keeps_headers=wanted.headers is None,
                at=at,
            )
            assert changed is not None
            if wanted.enabled and (before.disabled_at is not None or not before.enabled):
                await _let_go(conn, tenant_id, before.endpoint_id, at)
        return await self._show(conn, changed, at)

    async def remove(
        self, conn: Conn, tenant_id: TenantId, environment: Environment, at: datetime, *, name: str
    ) -> EndpointView:
        """Delete an endpoint: what it was not delivered ends as failed, and is not sent. Raises NoWebhook."""
        async with conn.transaction():
            await endpoints.lock_changes(conn, tenant_id)
            endpoint = await self._of(conn, tenant_id, environment, name)
            shown = await self._show(conn, endpoint, at)
            await endpoints.remove(conn, tenant_id, endpoint.endpoint_id, at=at)
        return shown

    async def disable(
        self,
        conn: Conn,
        tenant_id: TenantId,
        environment: Environment | None,
        at: datetime,
        *,
        name: str = DEFAULT,
    ) -> EndpointView | None:
        """Call it no more, and make no events for it; None when there is none."""
        before = await endpoints.of_environment(conn, tenant_id, environment, name)
        if before is None:
            return None
        changed = await endpoints.change(
            conn,
            tenant_id,
            before.endpoint_id,
            url=before.url,
            enabled=False,
            events=[WebhookEvent(kind) for kind in before.events],
            keeps_headers=True,
            at=at,
        )
        return None if changed is None else await self._show(conn, changed, at)

    async def rotate(
        self, conn: Conn, tenant_id: TenantId, environment: Environment, at: datetime, *, name: str = DEFAULT
    ) -> EndpointView:
        """Put a new secret in use, and show it; the old one signs beside it for a day. Raises NoWebhook."""
        endpoint = await self._of(conn, tenant_id, environment, name)
        secret, secret_id = new_secret(), new_id(at)
        encrypted = self._vault.encrypt_secret(tenant_id, secret_id, secret)
        if not await endpoints.rotate(
            conn, tenant_id, endpoint.endpoint_id, secret_id=secret_id, secret=encrypted, at=at
        ):  # deleted meanwhile
            raise NoWebhook(environment, name)
        return replace(await self._show(conn, endpoint, at), secret=secret)

    async def reveal(
        self, conn: Conn, tenant_id: TenantId, environment: Environment, at: datetime, *, name: str = DEFAULT
    ) -> EndpointView:
        """Return the current secret again, after the person has confirmed their identity. Raises NoWebhook."""
        endpoint = await self._of(conn, tenant_id, environment, name)
        found = await endpoints.secrets(conn, tenant_id, endpoint.endpoint_id, at)
        if not found:  # deleted meanwhile
            raise NoWebhook(environment, name)
        in_use = found[0]
        secret = self._vault.decrypt_secret(tenant_id, in_use.secret_id, in_use.secret)
        return replace(await self._show(conn, endpoint, at), secret=secret)

    async def test(
        self, conn: Conn, tenant_id: TenantId, environment: Environment, at: datetime, *, name: str = DEFAULT
    ) -> UUID:
        """Send an event `test` to the address; gives the delivery's id. Raises NoWebhook and NotNow."""
        return await self.sample(conn, tenant_id, environment, WebhookEvent.TEST, at, name=name)

    async def sample(
        self,
        conn: Conn,
        tenant_id: TenantId,
        environment: Environment,
        kind: WebhookEvent,
        at: datetime,
        *,
        name: str = DEFAULT,
    ) -> UUID:
        """Send a sample of a kind of event, whatever it wants to be told of. Raises NoWebhook and NotNow."""
        endpoint = await self._of(conn, tenant_id, environment, name)
        _require_called(endpoint)
        return await events.emit_to_one(
            conn,
            tenant_id,
            endpoint.endpoint_id,
            event_id=new_id(at),
            environment=environment,
            kind=kind,
            about="test",
            body=sample_body(kind, at),
            at=at,
        )

    async def recover(
        self,
        conn: Conn,
        tenant_id: TenantId,
        environment: Environment,
        since: datetime,
        at: datetime,
        *,
        name: str = DEFAULT,
    ) -> RecoveryRecord:
        """Redeliver failed and held events since a time, in stretches. Raises NoWebhook, BadWebhook, NotNow.

        An endpoint has one such recovery at a time. The recovery that re-enabling starts does not count: it is not
        listed, and covers held events alone.
        """
        if since >= at:
            raise BadWebhook(Text("since must lie in the past", "since debe estar en el pasado"))
        async with conn.transaction():
            await endpoints.lock_changes(conn, tenant_id)
            endpoint = await self._of(conn, tenant_id, environment, name)
            if (other := await recoveries.under_way(conn, tenant_id, endpoint.endpoint_id)) is not None:
                raise NotNow(Text(f"a recovery is under way: {other}", f"hay una recuperación en curso: {other}"))
            recovery_id = new_id(at)
            await recoveries.ask(
                conn,
                tenant_id,
                endpoint.endpoint_id,
                recovery_id=recovery_id,
                since=since,
                until=at,
                only_held=False,
                at=at,
            )
        found = await recoveries.one(conn, tenant_id, recovery_id)
        assert found is not None
        return found

    async def _of(self, conn: Conn, tenant_id: TenantId, environment: Environment, name: str) -> Endpoint:
        endpoint = await endpoints.of_environment(conn, tenant_id, environment, name)
        if endpoint is None:
            raise NoWebhook(environment, name)
        return endpoint

    async def _require_room(self, conn: Conn, tenant_id: TenantId, environment: Environment | None) -> None:
        """See that another endpoint fits in an environment; changes are locked. Raises BadWebhook."""
        there = [one for one in await endpoints.listed(conn, tenant_id) if one.environment == environment]
        if len(there) >= MAX_ENDPOINTS:
            raise BadWebhook(
                Text(
                    f"an environment has at most {MAX_ENDPOINTS} webhook endpoints: delete one first",
                    f"un ambiente tiene máximo {MAX_ENDPOINTS} webhooks: elimine uno primero",
                )
            )

    def _check(self, wanted: Wanted) -> tuple[str, list[WebhookEvent]]:
        kinds = []
        wanted_kinds = ", ".join(kind for kind in WebhookEvent if kind in WANTED)
        for kind in wanted.events:
            with suppress(ValueError):
                kinds.append(WebhookEvent(kind))
            if not kinds or kinds[-1] != kind or kind not in WANTED:
                raise BadWebhook(
                    Text(f"events must be among: {wanted_kinds}", f"events debe ser de entre: {wanted_kinds}")
                )
        try:
            return read_target(wanted.url, self._policy).url, list(dict.fromkeys(kinds))
        except BadTarget as bad:
            raise BadWebhook(bad.text.after("url")) from None

    def _beside(self, endpoint: Endpoint, kept: Sequence[str], headers: Mapping[str, str]) -> Mapping[str, str]:
        """The headers that stay, and those that are new or get another value. Raises BadWebhook."""
        opened = dict(self._vault.decrypt_headers(endpoint.tenant_id, endpoint.endpoint_id, endpoint.headers))
        if missing := [name for name in kept if name not in opened]:
            raise BadWebhook(
                Text(f"headers: there is no header {missing[0]!r}", f"headers: no hay una cabecera {missing[0]!r}")
            )
        replaced = {name.lower() for name in headers}
        return {name: opened[name] for name in kept if name.lower() not in replaced} | dict(headers)

    def _encrypt_headers(self, tenant_id: TenantId, endpoint_id: UUID, headers: Mapping[str, str]) -> bytes | None:
        try:
            checked = check_headers(headers.items())
        except BadHeaders as bad:
            raise BadWebhook(bad.text.after("headers")) from None
        return self._vault.encrypt_headers(tenant_id, endpoint_id, checked)

    async def _add(
        self,
        conn: Conn,
        tenant_id: TenantId,
        environment: Environment | None,
        name: str,
        wanted: Wanted,
        kinds: Sequence[WebhookEvent],
        at: datetime,
    ) -> EndpointView:
        endpoint_id, secret_id, secret = new_id(at), new_id(at), new_secret()
        await endpoints.add(
            conn,
            tenant_id,
            endpoint_id=endpoint_id,
            environment=environment,
            name=name,
            url=wanted.url,
            enabled=wanted.enabled,
            events=kinds,
            headers=self._encrypt_headers(tenant_id, endpoint_id, wanted.headers or {}),
            secret_id=secret_id,
            secret=self._vault.encrypt_secret(tenant_id, secret_id, secret),
            at=at,
        )
        made = await endpoints.one(conn, tenant_id, endpoint_id)
        assert made is not None
        return replace(await self._show(conn, made, at), secret=secret)

    async def _show(self, conn: Conn, endpoint: Endpoint, at: datetime) -> EndpointView:
        opened = self._vault.decrypt_headers(endpoint.tenant_id, endpoint.endpoint_id, endpoint.headers)
        names = [name for name, _ in opened]
        secrets = await endpoints.secrets(conn, endpoint.tenant_id, endpoint.endpoint_id, at)
        ends = [one.expires_at for one in secrets if one.expires_at is not None]
        return EndpointView(endpoint, names, max(ends, default=None))


def webhook_accounts(settings: Settings) -> WebhookAccounts | None:
    """Return the webhook operations of this installation; None without FE_WEBHOOK_KEYS."""
    vault = webhook_vault(settings)
    return None if vault is None else WebhookAccounts(vault, policy_from_settings(settings))


async def retry(conn: Conn, tenant_id: TenantId, delivery_id: UUID) -> deliveries.DeliveryRecord | None:
    """Have a delivery made again, under its id; None when there is no such one.

    Raises NotNow, also where its endpoint is not called: then it would only be held.
    """
    found = await deliveries.one(conn, tenant_id, delivery_id)
    if found is None:
        return None
    endpoint = await endpoints.one(conn, tenant_id, found.endpoint_id)
    if endpoint is None:
        raise NotNow(Text("its webhook was removed", "su webhook fue eliminado"))
    _require_called(endpoint)
    if not await deliveries.retry(conn, tenant_id, delivery_id):
        raise NotNow(Text("it is under way at this moment", "está en curso en este momento"))
    return await deliveries.one(conn, tenant_id, delivery_id)


def _require_called(endpoint: Endpoint) -> None:
    """See that an endpoint is called. Raises NotNow."""
    if endpoint.enabled and endpoint.disabled_at is None:
        return
    environment = endpoint.environment
    if not environment:
        raise NotNow(
            Text(
                "the webhook of every environment is disabled: enable it first",
                "el webhook de todos los ambientes está desactivado: actívelo primero",
            )
        )
    named = "" if endpoint.name == DEFAULT else f" {endpoint.name}"
    raise NotNow(
        Text(
            f"the webhook{named} of {environment} is disabled: enable it first",
            f"el webhook{named} de {environment} está desactivado: actívelo primero",
        )
    )


async def _let_go(conn: Conn, tenant_id: TenantId, endpoint_id: UUID, at: datetime) -> None:
    """Deliver what was kept while an endpoint was not called: from the oldest on, which is older than its trouble."""
    since = await deliveries.oldest_held(conn, tenant_id, endpoint_id)
    if since is not None:
        await recoveries.ask(
            conn, tenant_id, endpoint_id, recovery_id=new_id(at), since=since, until=at, only_held=True, at=at
        )
