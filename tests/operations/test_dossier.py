"""The dossier of a provider holds figures that were measured, and says what is absent."""

import io
import json
import zipfile
from datetime import date

from fe.operations.dossier import PROOFS, DossierDays, dossier, read_proofs, summaries
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import OPERATOR
from fe.store.records.statistics import Performance, performance
from tests.factories.tenants import make_tenant, rows

PERIOD = DossierDays(date(2026, 11, 1), date(2026, 11, 30))
MADE_AT = "2026-12-01T12:00:00.000Z"
SENT = Performance("ecf", 100, 97, 2, 1, 100, 300, 4, latencies=[(50_000, 94), (200_000, 5), (900_000, 1)])


async def test_figures_are_those_of_all_tenants_in_the_days_that_were_asked_for(dsn: str, db: Database) -> None:
    for day, submitted, counts in (("2026-11-02", 3, [2, 0, 1]), ("2026-11-03", 5, [0, 4]), ("2026-10-31", 9, [9])):
        tenant = await make_tenant(db)
        given = {"tenant": tenant, "day": day, "submitted": submitted, "counts": counts}
        await rows(
            db,
            "INSERT INTO usage_days VALUES (%(tenant)s, %(day)s, 'ecf', %(submitted)s, %(submitted)s, %(submitted)s,"
            " 0, 0, %(submitted)s, 0, 0)",
            **given,
        )
        await rows(db, "INSERT INTO usage_latency VALUES (%(tenant)s, %(day)s, 'ecf', %(counts)s)", **given)

    async with open_database(dsn, role=OPERATOR) as operator:
        (found,) = await operator.run(performance, PERIOD.first, PERIOD.last)

    assert (found.environment, found.submitted, found.accepted, found.requests_succeeded) == ("ecf", 8, 8, 0)
    assert [number for _, number in found.latencies] == [2, 4, 1]
    assert found.latency_ms(50) == found.latencies[1][0] / 1000
    assert found.latency_ms(95) == found.latencies[2][0] / 1000


def test_dossier_holds_the_proofs_with_their_sums_and_names_what_is_absent() -> None:
    pages = read_proofs()
    content, absent = dossier("1.2.3", MADE_AT, PERIOD, [SENT], pages)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        record = json.loads(archive.read("dossier.json"))
        spanish = archive.read("dossier.es.html").decode()
    assert set(names) == {"dossier.json", "dossier.html", "dossier.es.html", *(f"proofs/{name}" for name in PROOFS)}
    (figures,) = record["figures"]
    assert (figures["accepted"], figures["p50Ms"], figures["p95Ms"], figures["p99Ms"]) == (97, 50.0, 200.0, 200.0)
    said = {one["file"].removeprefix("proofs/"): one["summary"] for one in record["proofs"]}
    assert said == summaries(pages)
    assert " clauses; " in said["conformance.md"]
    assert " requirements, " in said["security/asvs.md"]
    assert said["faults.md"].endswith(" runs with their figures, 0 violations")
    assert "missed" in said["performance.md"]
    assert record["absent"] == [one.en for one in absent] == [absent[0].en]
    assert absent[0].en.startswith("Availability: the database does not measure it")
    assert "Expediente del proveedor" in spanish
    assert "Disponibilidad" in spanish


def test_installation_without_pages_and_without_receipts_says_so() -> None:
    absent = dossier("1.2.3", MADE_AT, PERIOD, [], {})[1]

    assert [one.en for one in absent] == [
        *(f"{name}: the page is not in this package" for name in PROOFS),
        absent[-2].en,
        "Figures of this installation: nothing was sent from 2026-11-01 to 2026-11-30",
    ]
