"""The dossier of a provider: what it can prove of its software, and what its installation did, in one ZIP.

Only what was measured is told; what was not is named.
"""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from importlib.resources import files
from typing import Any

from fe.ecf.json_text import write_canonical_json
from fe.ecf.texts import Language, Text
from fe.store.records.statistics import Performance

#: Pages that come with the package, and what each proves.
PROOFS: Mapping[str, Text] = {
    "conformance.md": Text("Conformance with the interface", "Conformidad con la interfaz"),
    "security/asvs.md": Text("Security: OWASP ASVS 5.0", "Seguridad: OWASP ASVS 5.0"),
    "faults.md": Text("Faults injected, and what they found", "Fallas provocadas y lo que hallaron"),
    "performance.md": Text("Performance, measured by benchmarks", "Rendimiento, medido en pruebas"),
}
#: The line of a page that sums it up.
_SUMS = {
    "conformance.md": re.compile(r"^[0-9]+ clauses; .*$", re.MULTILINE),
    "security/asvs.md": re.compile(r"^[0-9]+ requirements, .*$", re.MULTILINE),
}
_VIOLATIONS = re.compile(r"Violations: ([0-9]+)")
_TARGET = re.compile(r"\| (holds|MISSED) \|$", re.MULTILINE)

_TITLE = Text("Dossier of the provider", "Expediente del proveedor")
_ABSENT = Text("Not measured", "Sin medición")
_AVAILABILITY = Text(
    "Availability: the database does not measure it. Take it from the monitoring of this installation (up, "
    "fe_http_requests_total).",
    "Disponibilidad: la base de datos no la mide. Tómela del monitoreo de esta instalación (up, "
    "fe_http_requests_total).",
)
_NO_PAGE = Text("{name}: the page is not in this package", "{name}: la página no está en este paquete")
_NOTHING_DONE = Text(
    "Figures of this installation: nothing was sent from {first} to {last}",
    "Cifras de esta instalación: no se envió nada del {first} al {last}",
)
_COLUMNS = {
    "environment": Text("Environment", "Ambiente"),
    "submitted": Text("Handed in", "Enviados"),
    "accepted": Text("Accepted", "Aceptados"),
    "conditional": Text("With remarks", "Condicionales"),
    "rejected": Text("Rejected", "Rechazados"),
    "answered": Text("Answered", "Respondidos"),
    "p50Ms": Text("First answer, median (ms)", "Primera respuesta, mediana (ms)"),
    "p95Ms": Text("95 % within (ms)", "95 % en (ms)"),
    "p99Ms": Text("99 % within (ms)", "99 % en (ms)"),
    "requestsSuccess": Text("Requests answered", "Llamadas atendidas"),
    "requestsError": Text("Requests refused or failed", "Llamadas rechazadas o fallidas"),
}


@dataclass(frozen=True, slots=True)
class DossierDays:
    """The days whose figures are told, both included (UTC)."""

    first: date
    last: date


def read_proofs() -> dict[str, str]:
    """Read the pages that are in this package."""
    docs = files("fe") / "docs"
    return {name: (docs / name).read_text(encoding="utf-8") for name in PROOFS if (docs / name).is_file()}


def summaries(pages: Mapping[str, str]) -> dict[str, str]:
    """Sum each page up in a line, in the words and figures of the page."""
    found = {}
    for name, page in pages.items():
        if name in _SUMS:
            matched = _SUMS[name].search(page)
            found[name] = matched[0] if matched else ""
        elif name == "faults.md":
            runs = [int(number) for number in _VIOLATIONS.findall(page)]
            found[name] = f"{len(runs)} runs with their figures, {sum(runs)} violations"
        else:
            verdicts = _TARGET.findall(page)
            found[name] = f"{len(verdicts)} targets: {verdicts.count('holds')} hold, {verdicts.count('MISSED')} missed"
    return found


def dossier(
    version: str, made_at: str, period: DossierDays, figures: Sequence[Performance], pages: Mapping[str, str]
) -> tuple[bytes, list[Text]]:
    """Write the ZIP, and say what is absent from it."""
    absent = [_NO_PAGE.fill(name=name) for name in PROOFS if name not in pages]
    absent.append(_AVAILABILITY)
    if not figures:
        absent.append(_NOTHING_DONE.fill(first=period.first, last=period.last))
    record = {
        "software": {"name": "fe", "version": version},
        "madeAt": made_at,
        "period": {"first": period.first.isoformat(), "last": period.last.isoformat()},
        "figures": [_record(one) for one in figures],
        "proofs": [{"file": f"proofs/{name}", "summary": said} for name, said in summaries(pages).items()],
        "absent": [one.en for one in absent],
    }
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dossier.json", write_canonical_json(record))
        for language, name in (("es", "dossier.es.html"), ("en", "dossier.html")):
            archive.writestr(name, _html(record, absent, "es" if language == "es" else "en"))
        for name, page in pages.items():
            archive.writestr(f"proofs/{name}", page)
    return sink.getvalue(), absent


def _record(one: Performance) -> dict[str, Any]:
    values = (
        one.environment,
        one.submitted,
        one.accepted,
        one.conditional,
        one.rejected,
        one.answered,
        *(one.latency_ms(part) for part in (50, 95, 99)),
        one.requests_succeeded,
        one.requests_failed,
    )
    return dict(zip(_COLUMNS, values, strict=True))


def _html(record: Mapping[str, Any], absent: Sequence[Text], language: Language) -> str:
    def row(cells: Sequence[object], tag: str = "td") -> str:
        return (
            "<tr>" + "".join(f"<{tag}>{escape('-' if cell is None else str(cell))}</{tag}>" for cell in cells) + "</tr>"
        )

    title, period = _TITLE.said(language), record["period"]
    figures = "".join(row(list(one.values())) for one in record["figures"])
    proofs = "".join(
        f'<li><a href="{one["file"]}">{escape(PROOFS[one["file"].removeprefix("proofs/")].said(language))}</a>: '
        f"{escape(one['summary'])}</li>"
        for one in record["proofs"]
    )
    head = row([name.said(language) for name in _COLUMNS.values()], "th")
    lacks = "".join(f"<li>{escape(one.said(language))}</li>" for one in absent)
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{title}</title>'
        "<style>body{font:16px sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
        "table{border-collapse:collapse;display:block;overflow-x:auto}"
        "td,th{border:1px solid #999;padding:.3em .6em}</style>"
        f"<h1>{title}</h1><p>fe {escape(record['software']['version'])}, {record['madeAt']}</p>"
        f"<h2>{period['first']} – {period['last']}</h2><table>{head}{figures}</table>"
        f"<ul>{proofs}</ul><h2>{_ABSENT.said(language)}</h2><ul>{lacks}</ul></html>"
    )
