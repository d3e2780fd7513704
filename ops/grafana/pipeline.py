"""Dashboards of the pipeline: stage by stage, and at the authority."""

from ops.grafana.model import ENVIRONMENT, INSTANCE, Dashboard, Panel, largest, quantile, quantiles, rate, share

PIPELINE = Dashboard(
    "fe-pipeline",
    "fe 2 · Pipeline",
    "From 202 to the verdict: what waits, how late it is, what comes of each step, and what gave up.",
    {
        "Waiting": (
            Panel(
                "Rows by stage",
                "Every submission without a verdict is one row. `track` is the authority's time, not ours.",
                {"{{stage}} {{environment}}": largest("fe_outbox_rows", ENVIRONMENT, by="stage, environment")},
                stacked=True,
            ),
            Panel(
                "Oldest due row by stage",
                "How long it has been due and not taken. What is paused does not count; what a circuit holds does.",
                {
                    "{{stage}} {{environment}}": largest(
                        "fe_outbox_oldest_late_seconds", ENVIRONMENT, by="stage, environment"
                    )
                },
                unit="s",
                limits=(60, 300),
            ),
            Panel(
                "202 to the verdict",
                "The objective: 95 % within 60 s while the authority is up.",
                quantiles("fe_submission_verdict_seconds", ENVIRONMENT, INSTANCE),
                unit="s",
            ),
        ),
        "Steps": (
            Panel(
                "Steps by stage and outcome",
                "Bookings. `retry`: failed and will be tried again; `not booked`: the lease decides.",
                {"{{stage}}: {{outcome}}": rate("fe_steps_total", INSTANCE, by="stage, outcome")},
                unit="ops",
            ),
            Panel(
                "Step p95 by stage",
                "From claim to booking. `send`, `track` and `reconcile` include the authority.",
                {"{{stage}}": quantile(0.95, "fe_step_seconds", INSTANCE, by="stage")},
                unit="s",
            ),
            Panel(
                "Slots in use",
                "What each process works on, of what it may work on at once.",
                {"{{stage}} {{instance}}": f"fe_in_hand{{{INSTANCE}}} / fe_slots{{{INSTANCE}}}"},
                unit="percentunit",
            ),
            Panel(
                "Oldest in hand",
                "How long a row has been worked on. Above the lease (60 s) another worker may have it too.",
                {"{{stage}} {{instance}}": f"fe_in_hand_oldest_seconds{{{INSTANCE}}}"},
                unit="s",
            ),
            Panel(
                "Leases lost, rows rescued",
                "Bookings refused because the row had moved on; rows freed from processes that fell silent.",
                {
                    "lost {{stage}}": rate("fe_leases_lost_total", INSTANCE, by="stage"),
                    "rescued {{stage}}": rate("fe_rows_rescued_total", INSTANCE, by="stage"),
                },
                unit="ops",
            ),
            Panel(
                "Ends by status",
                "`error` is a failure of ours or an outright refusal; the other three are the authority's verdicts.",
                {
                    "{{status}} {{environment}}": rate(
                        "fe_verdicts_total", ENVIRONMENT, INSTANCE, by="status, environment"
                    )
                },
                unit="ops",
            ),
        ),
        "To the other party": (
            Panel(
                "Handed on",
                "Accepted e-CF to their receivers, approvals to their issuers, by what came of it.",
                {"{{kind}}: {{outcome}}": rate("fe_counterparty_deliveries_total", INSTANCE, by="kind, outcome")},
                unit="ops",
                width=24,
            ),
        ),
        "An operator's matter": (
            Panel(
                "Dead letters",
                "Rows that gave up, by the stage they gave up in.",
                {"{{stage}} {{environment}}": largest("fe_dead_letters", ENVIRONMENT, by="stage, environment")},
                stacked=True,
            ),
            Panel(
                "Oldest dead letter",
                "How long ago it gave up. To its client it has been `queued` ever since.",
                {
                    "{{stage}} {{environment}}": largest(
                        "fe_dead_letters_oldest_seconds", ENVIRONMENT, by="stage, environment"
                    )
                },
                unit="s",
            ),
            Panel(
                "Unknown outcomes",
                "Sends of which nobody knows whether they arrived. The authority is asked, for 15 minutes.",
                {
                    "{{environment}}": largest("fe_outcomes_unknown", ENVIRONMENT, by="environment"),
                },
            ),
            Panel(
                "Oldest unknown outcome",
                "Above 900 s somebody has to look.",
                {"{{environment}}": largest("fe_outcomes_unknown_oldest_seconds", ENVIRONMENT, by="environment")},
                unit="s",
                limits=(300, 900),
            ),
            Panel(
                "Longest wait for a verdict",
                "Of what the authority has received. Above an hour somebody has to look; after 72 it gives up.",
                {"{{environment}}": largest("fe_verdicts_awaited_oldest_seconds", ENVIRONMENT, by="environment")},
                unit="s",
                limits=(600, 3600),
            ),
            Panel(
                "Circuits open",
                "1: nothing is sent to this host of the authority until a probe is answered.",
                {"{{environment}} {{host}}": largest("fe_authority_circuit_open", ENVIRONMENT, by="environment, host")},
            ),
            Panel(
                "Terms of the law",
                "Documents that the authority may not have (72 h; deferred 24 h) and contingencies (15 days).",
                {
                    "{{term}} {{state}} {{environment}}": largest(
                        "fe_terms_running", ENVIRONMENT, by="term, state, environment"
                    )
                },
            ),
            Panel(
                "Pauses",
                "What operators stopped, and for how long the oldest pause has been in force.",
                {"pauses": largest("fe_pauses"), "oldest, hours": f"{largest('fe_pauses_oldest_seconds')} / 3600"},
            ),
        ),
    },
)

AUTHORITY = Dashboard(
    "fe-authority",
    "fe 3 · Authority",
    "The tax authority as we see it: how often it is asked, how it answers, how long it takes, what it decides.",
    {
        "Exchanges": (
            Panel(
                "Rate by operation",
                "Exchanges, the ones that failed included.",
                {
                    "{{operation}} {{environment}}": rate(
                        "fe_authority_requests_total", ENVIRONMENT, INSTANCE, by="operation, environment"
                    )
                },
                unit="reqps",
            ),
            Panel(
                "Outcome",
                "`unavailable`: certainly not processed; `unknown`: perhaps processed; `refused`: a final no.",
                {"{{outcome}}": rate("fe_authority_requests_total", ENVIRONMENT, INSTANCE, by="outcome")},
                unit="reqps",
            ),
            Panel(
                "Failed, by host and operation",
                "The share that was unavailable or unknown.",
                {
                    "{{host}} {{operation}}": share(
                        "fe_authority_requests_total",
                        'outcome=~"unavailable|unknown"',
                        ENVIRONMENT,
                        INSTANCE,
                        by="host, operation",
                    )
                },
                unit="percentunit",
                limits=(0.2, 0.9),
            ),
            Panel(
                "Duration p50 by operation and host",
                "Of all exchanges, failed ones included.",
                {
                    "{{operation}} {{host}}": quantile(
                        0.5, "fe_authority_request_seconds", INSTANCE, by="operation, host"
                    )
                },
                unit="s",
                width=12,
            ),
            Panel(
                "Duration p95 by operation and host",
                "FE_AUTHORITY_TIMEOUT is where it ends.",
                {
                    "{{operation}} {{host}}": quantile(
                        0.95, "fe_authority_request_seconds", INSTANCE, by="operation, host"
                    )
                },
                unit="s",
                width=12,
            ),
        ),
        "Verdicts": (
            Panel(
                "Verdict mix",
                "A jump of Rechazado is a release, ours or a client's, or a new rule of the authority.",
                {
                    "{{status}}": f"{rate('fe_verdicts_total', ENVIRONMENT, INSTANCE, by='status')}"
                    f" / ignoring (status) group_left () ({rate('fe_verdicts_total', ENVIRONMENT, INSTANCE)} > 0)"
                },
                unit="percentunit",
                stacked=True,
                width=12,
            ),
            Panel(
                "Not accepted, by type",
                "Rechazado and error, by the type of e-CF where it is known.",
                {
                    "{{status}} {{type}}": rate(
                        "fe_verdicts_total", ENVIRONMENT, INSTANCE, 'status=~"Rechazado|error"', by="status, type"
                    )
                },
                unit="ops",
                width=12,
            ),
        ),
    },
)
