"""Citus as an engine: its settings, and how its nodes are asked."""

from fe.store.citus.distribution import distribute
from fe.store.citus.nodes import contents, groups_of, silent_groups
from fe.store.citus.tables import DISTRIBUTED
from fe.store.postgres.engine import Engine, Nodes

CITUS = Engine(
    "citus",
    session={
        # A plan that is made before its tenant is known cannot tell on which node it runs: such a statement fails.
        "plan_cache_mode": "force_custom_plan",
        # SET LOCAL goes with the statements of its transaction to the nodes that they touch.
        "citus.propagate_set_commands": "local",
    },
    migrating={
        # One file may change a table and make a function in one transaction, and each uses its own connections.
        "citus.multi_shard_modify_mode": "sequential",
        # The triggers that distributed tables have look at their own row and the transaction's settings alone.
        "citus.enable_unsafe_triggers": "on",
    },
    hands_on_set_config=False,
    looking_around="SELECT set_config('fe.looks_around_until', (clock_timestamp() + interval '1 minute')::text, false)",
    commits_there=True,
    distributed=frozenset(DISTRIBUTED),
    nodes=Nodes(distribute=distribute, silent=silent_groups, of_tenants=groups_of, contents=contents),
)
