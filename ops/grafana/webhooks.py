"""Webhooks, and what goes from taxpayer to taxpayer: what others' systems are told, and whether they listen."""

from ops.grafana.model import INSTANCE, Dashboard, Panel, largest, quantiles, rate

WEBHOOKS = Dashboard(
    "fe-webhooks",
    "fe 9 · Webhooks",
    "How many calls are made and confirmed, what waits, and how many endpoints do not listen. Whose they are: SQL.",
    {
        "Calls": (
            Panel(
                "Calls, by what became of the delivery",
                "`not confirmed`: it is tried again; `gave up`: ten tries failed, and it can be asked for again.",
                {"{{outcome}}": rate("fe_webhook_attempts_total", INSTANCE, by="outcome")},
                unit="ops",
                width=12,
            ),
            Panel(
                "Calls that were not confirmed, by why",
                "`address`: a name that leads to no public address, which is never called.",
                {"{{result}}": rate("fe_webhook_attempts_total", INSTANCE, 'result!="confirmed"', by="result")},
                unit="ops",
                width=12,
            ),
            Panel(
                "How long a call takes",
                "The answer included; at most 20 s.",
                quantiles("fe_webhook_attempt_seconds", INSTANCE),
                unit="s",
                width=24,
            ),
        ),
        "From taxpayer to taxpayer": (
            Panel(
                "Receipts sent to their receivers, by what came of it",
                "`failed_try`: it is tried again for three days; `gave_up`: `fe counterparty list` and `replay`.",
                {"{{outcome}}": rate("fe_counterparty_deliveries_total", INSTANCE, 'kind="receipt"', by="outcome")},
                unit="ops",
                width=8,
            ),
            Panel(
                "Approvals sent to the issuers, by what came of it",
                "As for receipts. Whether the authority took them is among the verdicts.",
                {"{{outcome}}": rate("fe_counterparty_deliveries_total", INSTANCE, 'kind="approval"', by="outcome")},
                unit="ops",
                width=8,
            ),
            Panel(
                "Gave up in the last week",
                "And not set going again since: ops/runbooks/counterparty-gave-up.md.",
                {"{{kind}}": largest("fe_counterparty_given_up", by="kind")},
                width=8,
            ),
        ),
        "Mail to buyers": (
            Panel(
                "Mails by what came of the try",
                "`failed_try`: it is tried again for three days; `put_off`: the tenant's cap of the day.",
                {"{{outcome}}": rate("fe_mails_total", INSTANCE, by="outcome")},
                unit="ops",
                width=12,
            ),
            Panel(
                "How late the oldest due mail is",
                "More than some minutes: ops/runbooks/mail-not-sent.md.",
                {"late": largest("fe_mail_oldest_late_seconds")},
                unit="s",
                width=12,
            ),
        ),
        "What waits": (
            Panel(
                "Deliveries that are not confirmed",
                "`held`: their endpoint is not called at present; `failed`: after ten tries.",
                {"{{state}}": largest("fe_webhook_deliveries", by="state")},
                width=8,
            ),
            Panel(
                "How late the oldest due delivery is",
                "Of endpoints that answer. More than some seconds: too few slots (FE_WEBHOOK_SLOTS), or no actors.",
                {"late": largest("fe_webhook_oldest_late_seconds")},
                unit="s",
                width=8,
            ),
            Panel(
                "Endpoints that are switched on",
                "`failing`: the last try failed; `disabled`: gone, or for five days nothing worked.",
                {"{{state}}": largest("fe_webhook_endpoints", by="state")},
                stacked=True,
                width=8,
            ),
        ),
    },
)
