"""Dashboard of processes and the database."""

from ops.grafana.model import INSTANCE, Dashboard, Panel, largest, quantiles

PROCESSES = Dashboard(
    "fe-processes",
    "fe 7 · Processes and database",
    "Use, saturation and errors of what we run on.",
    {
        "Processes": (
            Panel(
                "CPU",
                "Cores in use. One process uses one, and a little more for signing.",
                {"{{instance}}": f"rate(process_cpu_seconds_total{{{INSTANCE}}}[$__rate_interval])"},
            ),
            Panel(
                "Memory",
                "Resident set.",
                {"{{instance}}": f"process_resident_memory_bytes{{{INSTANCE}}}"},
                unit="bytes",
            ),
            Panel(
                "File descriptors",
                "Share of the limit in use.",
                {"{{instance}}": f"process_open_fds{{{INSTANCE}}} / process_max_fds{{{INSTANCE}}}"},
                unit="percentunit",
            ),
            Panel(
                "Event loop lag",
                "How late the event loop runs a task that is due.",
                quantiles("fe_loop_lag_seconds", INSTANCE),
                unit="s",
            ),
            Panel(
                "Silence of the actors",
                "Since each loop last turned. The slowest turns every 15 s.",
                {"{{actor}} {{instance}}": f"fe_actor_silent_seconds{{{INSTANCE}}}"},
                unit="s",
                limits=(30, 60),
            ),
            Panel(
                "Stages in trouble",
                "1 while everything that a stage tries fails unexpectedly. Its rows are held back and lose no attempt.",
                {"{{stage}} {{instance}}": f"fe_stage_in_trouble{{{INSTANCE}}}"},
                limits=(1, 1),
            ),
            Panel(
                "Actors restarted",
                "After a crash. Five within a minute end the process.",
                {"{{actor}}": f"sum by (actor) (increase(fe_actor_restarts_total{{{INSTANCE}}}[$__rate_interval]))"},
            ),
            Panel(
                "Spans",
                "Of traces, where they are recorded. Fewer sent than ended: look at the collector.",
                {"{{what}}": f"sum by (what) (rate(fe_trace_spans_total{{{INSTANCE}}}[$__rate_interval]))"},
            ),
            Panel(
                "What runs where",
                "Version of the service and of Python.",
                {"": f"sum by (instance, version, python) (fe_build_info{{{INSTANCE}}})"},
                shape="table",
            ),
        ),
        "Database": (
            Panel(
                "Wait for a connection",
                "From asking the pool to having one.",
                quantiles("fe_database_pool_wait_seconds", INSTANCE),
                unit="s",
            ),
            Panel(
                "Reachable, writable, and wake-ups heard",
                "1 is good. A full disk or a standby is not writable. Without wake-ups work is found every"
                " FE_POLL_SECONDS only.",
                {
                    "database {{instance}}": f"fe_database_reachable{{{INSTANCE}}}",
                    "writable {{instance}}": f"fe_database_writable{{{INSTANCE}}}",
                    "wake-ups {{instance}}": f"fe_notifications_heard{{{INSTANCE}}}",
                },
            ),
            Panel(
                "Connections to the server",
                "Everybody's, of what it takes.",
                {
                    "connections": largest("fe_database_connections"),
                    "most": largest("fe_database_connections_most"),
                },
            ),
            Panel(
                "Size of the hot tables",
                "With indexes. The outbox is small when all is well.",
                {"{{table}}": largest("fe_table_bytes", by="table")},
                unit="bytes",
            ),
            Panel(
                "Nodes of a cluster that answer",
                "Nothing on one server. At 0: its tenants wait, and their requests are answered 503.",
                {"{{node}}": "min by (node) (fe_node_answers)"},
            ),
            Panel(
                "Size of each node of a cluster",
                "Our database there. One that grows faster than the others has a large tenant: ops/citus/README.md.",
                {"{{node}}": largest("fe_node_bytes", by="node")},
                unit="bytes",
            ),
            Panel(
                "Shards on each node of a cluster",
                "Of submissions. They are moved by hand, and none moves by itself.",
                {"{{node}}": largest("fe_node_shards", by="node")},
            ),
            Panel(
                "Live and dead rows of the hot tables",
                "By the server's estimate. Dead rows that only grow are held by an old transaction.",
                {"{{table}} {{kind}}": largest("fe_table_rows", by="table, kind")},
            ),
            Panel(
                "Size of the database",
                "All of it, as it lies on disk.",
                {"bytes": largest("fe_database_bytes")},
                unit="bytes",
            ),
            Panel(
                "Transactions",
                "A second, of our database. Many that are rolled back: locks, deadlocks, or a fault of ours.",
                {"{{end}}": "max by (end) (rate(fe_database_transactions[$__rate_interval]))"},
                unit="ops",
            ),
            Panel(
                "Read from disk, of all blocks read",
                "What the server's memory did not hold.",
                {
                    "from disk": 'max(rate(fe_database_blocks{source="disk"}[$__rate_interval]))'
                    " / (sum(max by (source) (rate(fe_database_blocks[$__rate_interval]))) > 0)"
                },
                unit="percentunit",
                limits=(0.05, 0.2),
            ),
            Panel(
                "Sessions that wait for locks, and deadlocks",
                "A deadlock costs one of the two a try, and nothing else.",
                {
                    "waiting": largest("fe_database_lock_waits"),
                    "deadlocks a minute": "60 * max(rate(fe_database_deadlocks[$__rate_interval]))",
                },
                limits=(5, 10),
            ),
            Panel(
                "Written to disk by sorts",
                "Bytes a second that did not fit into work_mem.",
                {"bytes": "max(rate(fe_database_temporary_bytes[$__rate_interval]))"},
                unit="Bps",
            ),
            Panel(
                "Transaction ids in use",
                "Of those there are before rows must be frozen. Autovacuum begins at a tenth; at 1 nothing is written.",
                {"in use": largest("fe_database_transaction_ids_used")},
                unit="percentunit",
                limits=(0.25, 0.5),
            ),
            Panel(
                "Archive and standby",
                "1 while the log cannot be archived; and how far the slowest standby is behind, in seconds.",
                {
                    "archive fails": largest("fe_database_archive_fails"),
                    "standby behind": largest("fe_database_replica_lag_seconds"),
                },
                limits=(1, 60),
            ),
            Panel(
                "Oldest transaction",
                "Of our role. It keeps dead rows from being cleared away.",
                {"oldest": largest("fe_database_oldest_transaction_seconds")},
                unit="s",
                limits=(30, 60),
            ),
            Panel(
                "Clock against the database's",
                "Ours minus theirs. Receipts carry our time.",
                {"{{instance}}": f"fe_clock_ahead_seconds{{{INSTANCE}}}"},
                unit="s",
                below_zero=True,
                width=16,
            ),
        ),
    },
)
