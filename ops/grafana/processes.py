"""What we run on: processes and the database."""

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
                core=True,
            ),
            Panel(
                "Memory",
                "Resident set.",
                {"{{instance}}": f"process_resident_memory_bytes{{{INSTANCE}}}"},
                unit="bytes",
                core=True,
            ),
            Panel(
                "File descriptors",
                "Share of the limit in use.",
                {"{{instance}}": f"process_open_fds{{{INSTANCE}}} / process_max_fds{{{INSTANCE}}}"},
                unit="percentunit",
                core=True,
            ),
            Panel(
                "Event loop lag",
                "How late the event loop runs a task that is due.",
                quantiles("fe_loop_lag_seconds", INSTANCE),
                unit="s",
                core=True,
            ),
            Panel(
                "Silence of the actors",
                "Since each loop last turned. The slowest turns every 15 s.",
                {"{{actor}} {{instance}}": f"fe_actor_silent_seconds{{{INSTANCE}}}"},
                unit="s",
                limits=(30, 60),
                core=True,
            ),
            Panel(
                "Stages in trouble",
                "1 while everything that a stage tries fails unexpectedly. Its rows are held back and lose no attempt.",
                {"{{stage}} {{instance}}": f"fe_stage_in_trouble{{{INSTANCE}}}"},
                limits=(1, 1),
                core=True,
            ),
            Panel(
                "Actors restarted",
                "After a crash. Five within a minute end the process.",
                {"{{actor}}": f"sum by (actor) (increase(fe_actor_restarts_total{{{INSTANCE}}}[$__rate_interval]))"},
                core=True,
            ),
        ),
        "Database": (
            Panel(
                "Wait for a connection",
                "From asking the pool to having one.",
                quantiles("fe_database_pool_wait_seconds", INSTANCE),
                unit="s",
                core=True,
            ),
            Panel(
                "Reachable, and wake-ups heard",
                "1 is good. Without wake-ups work is found every FE_POLL_SECONDS only.",
                {
                    "database {{instance}}": f"fe_database_reachable{{{INSTANCE}}}",
                    "wake-ups {{instance}}": f"fe_notifications_heard{{{INSTANCE}}}",
                },
                core=True,
            ),
            Panel(
                "Connections to the server",
                "Everybody's, of what it takes.",
                {
                    "connections": largest("fe_database_connections"),
                    "most": largest("fe_database_connections_most"),
                },
                core=True,
            ),
            Panel(
                "Size of the hot tables",
                "With indexes. The outbox is small when all is well.",
                {"{{table}}": largest("fe_table_bytes", by="table")},
                unit="bytes",
                core=True,
            ),
            Panel(
                "Live and dead rows of the hot tables",
                "By the server's estimate. Dead rows that only grow are held by an old transaction.",
                {"{{table}} {{kind}}": largest("fe_table_rows", by="table, kind")},
                core=True,
            ),
            Panel(
                "Oldest transaction",
                "Of our role. It keeps dead rows from being cleared away.",
                {"oldest": largest("fe_database_oldest_transaction_seconds")},
                unit="s",
                limits=(30, 60),
                core=True,
            ),
            Panel(
                "Clock against the database's",
                "Ours minus theirs. Receipts carry our time.",
                {"{{instance}}": f"fe_clock_ahead_seconds{{{INSTANCE}}}"},
                unit="s",
                below_zero=True,
                width=12,
                core=True,
            ),
            Panel(
                "What runs where",
                "Version of the service and of Python.",
                {"": f"sum by (instance, version, python) (fe_build_info{{{INSTANCE}}})"},
                shape="table",
                width=12,
                core=True,
            ),
        ),
    },
)
