"""Usage dashboard: documents issued and received, and their verdicts, without tenants."""

from ops.grafana.model import ENVIRONMENT, Dashboard, Panel, quantile, rate

_GOOD = 'status=~"Aceptado|Aceptado Condicional"'


def _in_range(metric: str, *matchers: str, by: str = "") -> str:
    """How much a counter grew in the time that is shown."""
    return f"sum{f' by ({by})' if by else ''} (increase({metric}{{{', '.join(matchers)}}}[$__range]))"


BUSINESS = Dashboard(
    "fe-business",
    "fe 8 · Usage and billing",
    "How much is issued and received, how much of it the authority accepts, and how fast.",
    {
        "In the time that is shown": (
            Panel(
                "Emissions in production",
                "Documents that the authority accepted, conditionally or not: what is billed.",
                {"accepted": _in_range("fe_verdicts_total", 'environment="ecf"', _GOOD)},
                shape="stat",
                width=6,
                height=4,
            ),
            Panel(
                "Handed in",
                "Submissions answered 202, in the environments that are chosen.",
                {"submissions": _in_range("fe_submissions_accepted_total", ENVIRONMENT)},
                shape="stat",
                width=6,
                height=4,
                leads_to="fe-overview",
            ),
            Panel(
                "Accepted by the authority",
                "Of the documents that came to an end.",
                {
                    "accepted": _in_range("fe_verdicts_total", ENVIRONMENT, _GOOD)
                    + f" / ({_in_range('fe_verdicts_total', ENVIRONMENT)} > 0)"
                },
                unit="percentunit",
                floors=(0.98, 0.9),
                idle="no verdicts",
                shape="stat",
                width=6,
                height=4,
                leads_to="fe-authority",
            ),
            Panel(
                "Received from suppliers",
                "Documents that were acknowledged as received.",
                {"received": _in_range("fe_received_total", ENVIRONMENT, 'reason="0"')},
                shape="stat",
                width=6,
                height=4,
            ),
        ),
        "Issued": (
            Panel(
                "Emissions by type",
                "Accepted documents, by the type of e-CF.",
                {"{{type}}": rate("fe_verdicts_total", ENVIRONMENT, _GOOD, by="type")},
                unit="ops",
                stacked=True,
                width=12,
            ),
            Panel(
                "Ends by environment",
                "Production is what is billed; the others are integrators at work.",
                {"{{environment}} {{status}}": rate("fe_verdicts_total", ENVIRONMENT, by="environment, status")},
                unit="ops",
                stacked=True,
                width=12,
            ),
            Panel(
                "202 to the verdict, p95",
                "The promise: 60 s for 19 of 20, while the authority is up.",
                {"{{environment}}": quantile(0.95, "fe_submission_verdict_seconds", ENVIRONMENT, by="environment")},
                unit="s",
                limits=(30, 60),
                idle="no verdicts",
                width=8,
            ),
            Panel(
                "202 to the authority's first answer, p95",
                "A receipt or the verdict, whichever comes first: what GET /usage tells each tenant as its latency.",
                {"{{environment}}": quantile(0.95, "fe_submission_answer_seconds", ENVIRONMENT, by="environment")},
                unit="s",
                idle="no answers",
                width=8,
            ),
            Panel(
                "Form of what is handed in",
                "JSON that becomes a document here, or XML made by the client; and repeats, which issue nothing.",
                {
                    "{{format}}": rate("fe_submissions_accepted_total", ENVIRONMENT, by="format"),
                    "repeats": rate("fe_submissions_deduped_total"),
                },
                unit="ops",
                width=8,
            ),
        ),
        "Billed": (
            Panel(
                "Miscounted",
                "What the last hourly count from the submissions found to be wrong, and put right.",
                {"emissions": "max(fe_billing_drift_emissions)"},
                limits=(1, 100),
                width=6,
            ),
            Panel(
                "Behind",
                "How long the oldest billed verdict waits for its month, and how long ago months were counted again.",
                {
                    "verdicts": "max(fe_billing_lag_seconds)",
                    "counted again": "min(fe_billing_reconciled_seconds)",
                },
                unit="s",
                width=6,
            ),
            Panel(
                "Charges that are not made",
                "Waiting for the payment processor, or refused by it.",
                {"{{state}}": "max by (state) (fe_billing_charges)"},
                width=6,
            ),
            Panel(
                "How long they have been so",
                "The oldest of each.",
                {"{{state}}": "max by (state) (fe_billing_charges_oldest_seconds)"},
                unit="s",
                width=6,
            ),
        ),
        "Archived": (
            Panel(
                "Archived receipts",
                "Receipts in packages that were stored and read back.",
                {"receipts": rate("fe_archive_receipts_total")},
                unit="ops",
                width=6,
            ),
            Panel(
                "Missing or damaged",
                "Receipts in no stored package, objects that are absent or differ, and evidence without a place.",
                {
                    "receipts": "max(fe_archive_missing_receipts)",
                    "objects": "max(fe_archive_faults)",
                    "refused": "max(fe_archive_refused)",
                },
                limits=(1, 100),
                width=6,
            ),
            Panel(
                "Archive behind",
                "The oldest package that waits for its store, and the oldest last check of a tenant.",
                {
                    "package": "max(fe_archive_unstored_seconds)",
                    "check": "max(fe_archive_unchecked_seconds)",
                },
                unit="s",
                width=6,
            ),
            Panel(
                "Failures of the archive's store",
                "By kind: away, denied, missing or different after an upload.",
                {"{{fault}}": rate("fe_archive_failures_total", by="fault")},
                unit="ops",
                width=6,
            ),
        ),
        "Received": (
            Panel(
                "Acknowledged, by reason",
                "`0`: received. `1`: against the specification; `2`: signature; `3`: sent before; `4`: not for us.",
                {"{{reason}} {{environment}}": rate("fe_received_total", ENVIRONMENT, by="reason, environment")},
                unit="ops",
                width=24,
            ),
        ),
    },
    since="now-24h",
)
