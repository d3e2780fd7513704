"""A company's usage by day: numbers, plots and CSV."""

from collections.abc import Sequence
from datetime import date

from fe.ecf.texts import LocalizedError, Text
from fe.metering import usage
from fe.metering.usage import UsagePeriod
from fe.portal.csv_cells import CSV_TYPE, Cell, csv_file
from fe.portal.days import read_day
from fe.portal.page_types import Needs, Page
from fe.portal.plots import Plot, Series
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.records.usage import UsageDay

_CSV = (
    "date",
    "environment",
    "requestsSuccess",
    "requestsError",
    "emissionsSubmitted",
    "emissionsAccepted",
    "emissionsAcceptedConditional",
    "emissionsRejected",
    "emissionsPending",
    "bytesIn",
    "bytesOut",
    "avgLatencyMs",
    "p95LatencyMs",
)


async def show(visit: Visit) -> Reply:
    """Show the days that were asked for, or the last thirty."""
    problem, status = None, 200
    try:
        chosen = _chosen(visit)
    except LocalizedError as error:
        problem, status, chosen = error.text, 400, usage.period(None, None, visit.now)
    days, waits_from = await visit.read(usage.days_at_hand, visit.environment, chosen)
    return visit.page(
        "company/usage.html",
        status,
        problem=problem,
        period=chosen,
        days=days,
        waits_from=waits_from,
        plots_of=_plots(visit, days),
    )


async def export(visit: Visit) -> Reply:
    """Export the chosen days as CSV: all of them, however long counting takes."""
    chosen = _chosen(visit)
    rows = [_row(day) for day in await visit.read(usage.days, visit.environment, chosen)]
    name = f"usage-{visit.environment}-{chosen.first}-{chosen.last}.csv"
    return visit.file(name, CSV_TYPE, csv_file(_CSV, rows))


def _chosen(visit: Visit) -> UsagePeriod:
    first, last = read_day(visit.query.get("from", "")), read_day(visit.query.get("to", ""))
    return usage.period(first, last, visit.now)


def _plots(visit: Visit, days: Sequence[UsageDay]) -> dict[str, Plot]:
    labels = [_short(day.day) for day in days]

    def said(english: str, spanish: str) -> str:
        return Text(english, spanish).said(visit.language)

    receipts = Plot(
        "receipts",
        said("Verdicts by day", "Respuestas de la DGII por día"),
        said(
            f"Bars for {len(days)} days: accepted, conditionally accepted and rejected receipts, upon each other.",
            f"Barras de {len(days)} días: comprobantes aceptados, aceptados condicionales y rechazados, apilados.",
        ),
        labels,
        [
            Series(said("Accepted", "Aceptados"), [day.accepted for day in days]),
            Series(said("Conditional", "Condicionales"), [day.conditional for day in days]),
            Series(said("Rejected", "Rechazados"), [day.rejected for day in days]),
        ],
    )
    requests = Plot(
        "requests",
        said("Calls to the API by day", "Llamadas a la API por día"),
        said(
            f"Bars for {len(days)} days: calls that succeeded, and those that failed, upon each other.",
            f"Barras de {len(days)} días: llamadas con éxito y con error, apiladas.",
        ),
        labels,
        [
            Series(said("Succeeded", "Con éxito"), [day.succeeded for day in days]),
            Series(said("Failed", "Con error"), [day.failed for day in days]),
        ],
    )
    latency = Plot(
        "latency",
        said("Time until DGII answers", "Tiempo hasta la respuesta de la DGII"),
        said(
            f"Two lines over {len(days)} days, in seconds: the average, and what 95 of 100 receipts stay below.",
            f"Dos líneas sobre {len(days)} días, en segundos: el promedio y lo que 95 de cada 100 no superan.",
        ),
        labels,
        [
            Series(said("Average (s)", "Promedio (s)"), [_seconds(day.average_ms) for day in days]),
            Series(said("95th percentile (s)", "Percentil 95 (s)"), [_seconds(day.p95_ms) for day in days]),
        ],
    )
    return {plot.name: plot for plot in (receipts, requests, latency)}


def _short(day: date) -> str:
    return f"{day:%d-%m}"


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds / 1000, 2)


def _row(day: UsageDay) -> Sequence[Cell]:
    return (
        day.day,
        day.environment.value,
        day.succeeded,
        day.failed,
        day.submitted,
        day.accepted,
        day.conditional,
        day.rejected,
        day.pending,
        day.bytes_in,
        day.bytes_out,
        round(day.average_ms or 0),
        round(day.p95_ms or 0),
    )


PAGES = (
    Page("GET", "/companies/<int:company>/<environment>/usage", Needs.READ, show),
    Page("GET", "/companies/<int:company>/<environment>/usage.csv", Needs.READ, export),
)
