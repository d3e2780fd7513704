"""The egress client as the settings say it."""

from urllib.parse import urlsplit

from fe.config import Settings, host_of
from fe.egress.client import Egress, Proxy
from fe.egress.public_addresses import is_public
from fe.egress.target import Policy


def policy_from_settings(settings: Settings) -> Policy:
    """The policy of allowed targets: never this service itself, by a name or an address of its settings."""
    doors = (
        settings.http_bind,
        settings.metrics_bind,
        settings.reception_bind,
        settings.portal_bind,
        settings.share_bind,
    )
    # Of a socket that was inherited nothing is known.
    binds = [bind.rsplit(":", 1) for bind in doors if bind and not bind.startswith("fd://")]
    public = {host_of(settings.portal_url), host_of(settings.share_url)}
    ours = settings.own_hosts() | {host.strip("[]") for host, _ in binds}
    return Policy(
        development=settings.development,
        ports=settings.ports_of_egress(),
        own_hosts=settings.own_hosts() | {host for host in public if host},
        own_addresses=frozenset(host for host in ours if is_public(host)),
        own_ports=frozenset(int(port) for _, port in binds),
    )


def egress_from_settings(settings: Settings, policy: Policy | None = None) -> Egress:
    """A client for addresses that others chose, or of another policy; by the proxy if there is one."""
    proxy = None
    if settings.egress_proxy:
        parts = urlsplit(settings.egress_proxy)
        assert parts.hostname is not None
        assert parts.port is not None
        proxy = Proxy(parts.hostname, parts.port)
    return Egress(policy or policy_from_settings(settings), proxy)
