"""A database that takes its tenants to be on the nodes that it is told, without a cluster."""

from collections.abc import Mapping, Sequence

from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from fe.store.postgres.engine import POSTGRES
from fe.store.postgres.nodes import AwayNodes


class SpreadDatabase(Database):
    """Database without node probes; `nodes` says which nodes are away."""

    def __init__(self, db: Database, groups: Mapping[TenantId, int], away: Sequence[int] = ()) -> None:
        self.nodes = AwayNodes()
        self.nodes.groups = frozenset(away)
        super().__init__(db._driver, None, POSTGRES, self.nodes)
        self._known = groups

    async def _groups_of(self, tenants: Sequence[TenantId]) -> Sequence[int | None]:
        return [self._known[tenant] for tenant in tenants]
