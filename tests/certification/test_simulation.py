"""The simulation of step 4: its plan by the counts of the path, and its rehearsal by a simulated authority."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from fe.catalogue.entries import Customer, ItbisRate, Product, check_customer, check_product
from fe.certification.case_set import Case
from fe.certification.to_do import ACTS, CannotRun, ToDo, on_page
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.money import number
from fe.ecf.signature import Signer
from fe.ecf.taxes import RATES
from fe.ecf.texts import Text
from fe.issuing.certification import Rehearsed, rehearse, require_sound
from fe.issuing.certification_runs import stop_of
from fe.issuing.certification_simulation import (
    COUNTS,
    PlannedReceipt,
    cases_of,
    in_sending_order,
    is_of_today,
    plan,
    read_plan,
    type_of,
    write_plan,
)
from fe.lifecycle import NumberFate, Status
from fe.simulator.certification import RehearsedRun, rehearse_run
from fe.store.records.certification import CaseOutcome, RunCase, RunKind
from tests.certification.sets import RNC
from tests.ecf.receipts import ISSUER, NOW
from tests.factories.companies import credential_of_today

SIGNER = Signer(credential_of_today())
_COMPANY = {name: said for name, said in ISSUER.items() if name != "ZonaVenta"}


def planned(
    path: str, customers: Sequence[Customer] = (), products: Sequence[Product] = (), *, first: int = 1
) -> list[PlannedReceipt]:
    wanted = Counter[EcfType]()
    for kind, count in COUNTS[path].items():
        wanted[type_of(kind)] += count
    numbers = {one: [f"{one.prefix}{first + at:010}" for at in range(count)] for one, count in wanted.items()}
    expiries = {one: None if one.value in ("32", "34") else "31-12-2028" for one in wanted}
    made = plan(path, numbers, expiries, customers=customers, products=products, today=NOW.date())
    return read_plan(write_plan(made))


def cases(made: Sequence[PlannedReceipt], sent: dict[str, bytes] | None = None, days: int = 0) -> tuple[Case, ...]:
    now = NOW + timedelta(days=days)
    return cases_of(made, issuer=_COMPANY, now=now, rates=RATES, sent=sent or {})


def rehearsed(made: Sequence[Case]) -> list[Rehearsed]:
    done = rehearse(made, SIGNER, issuer=_COMPANY, now=NOW, rates=RATES)
    require_sound(done)
    return done


async def at_authority(done: Sequence[Rehearsed]) -> RehearsedRun:
    sent: list[tuple[Root, str, bytes]] = [
        (Root.ECF, one.case.name, one.signed) if one.summary is None else (Root.RFCE, one.case.name, one.summary)
        for one in done
    ]
    return await rehearse_run(sent, NOW, taxpayer=RNC)


@pytest.mark.parametrize("path", ["own", "provider"])
async def test_examples_in_the_counts_of_the_path_are_accepted_by_the_simulated_authority(path: str) -> None:
    made = planned(path)
    done = rehearsed(cases(made))
    assert [one.case.e_ncf for one in done] == [one.e_ncf for one in in_sending_order(made)]
    ended = await at_authority(done)
    assert ended.objections == (None,) * len(made)
    counted = {("RFCE" if kind == "RFCE" else f"E{kind}"): count for kind, count in COUNTS[path].items()}
    assert (ended.counters["counters"], ended.counters["resets"]) == (counted, 0)
    for one in done:
        document = one.case.document
        assert document.get("Encabezado.Emisor.RazonSocialEmisor") == _COMPANY["RazonSocialEmisor"]
        assert document.get("Encabezado.Emisor.FechaEmision") == "20-11-2026"


def sold(name: str, price: str, itbis: str | None = "18", *, included: bool = False, kind: str = "good") -> Product:
    return check_product(name=name, price=price, price_has_itbis=included, itbis=itbis, kind=kind, unit="43")


@pytest.mark.parametrize(
    "products",
    [
        [sold("Cemento gris", "495.50"), sold("Varilla 3/8", "310", "16"), sold("Libro", "850", "exempt")],
        [sold("Planta eléctrica", "300000", included=True), sold("Café", "236.4567", included=True)],
        [sold("Consultoría", "2000", None, kind="service")],
    ],
)
async def test_receipts_are_made_of_the_catalogue(products: list[Product]) -> None:
    customers = [
        check_customer(name="Ferretería Sur SRL", rnc="131880681", receipt_type="31", address="Calle 1"),
        check_customer(name="Otro SRL", rnc="101000001"),
        check_customer(name="Ministerio de Ejemplo", rnc="131880657", receipt_type="45"),
        check_customer(name="Sin RNC"),
    ]
    made = planned("own", customers, products, first=501)
    done = rehearsed(cases(made))
    assert (await at_authority(done)).counters["resets"] == 0
    own = {one.name for one in products}
    for one in done:
        document = one.case.document
        lines = {item["NombreItem"] for item in document.get("DetallesItems.Item")}
        if one.case.type.value in ("31", "45") or (one.case.type.value == "32" and one.summary is None):
            assert lines <= own, one.case.e_ncf
        if one.case.type.value in ("31", "34", "45"):
            said = document.get("Encabezado.Comprador.RazonSocialComprador")
            assert said == ("Ministerio de Ejemplo" if one.case.type.value == "45" else "Ferretería Sur SRL")
        total = number(document.get("Encabezado.Totales.MontoTotal"))
        assert total is not None
        if one.case.type is EcfType.CONSUMER:
            assert (total < Decimal(250_000)) == (one.summary is not None)


async def test_document_that_would_reset_the_counters_shows_in_the_rehearsal() -> None:
    done = rehearsed(cases(planned("provider")))
    by_type = {one.case.type.value: one for one in done if one.summary is None}
    ended = await at_authority([by_type["31"], by_type["31"], by_type["41"]])
    assert ended.objections[0] is ended.objections[2] is None
    assert "utilizad" in str(ended.objections[1])
    assert ended.counters["resets"] == 1
    assert sum(ended.counters["counters"].values()) == 1
    ended = await at_authority([by_type["34"]])
    assert ended.objections[0] is not None  # its base was not accepted before


def test_receipts_that_were_sent_stay_when_the_plan_goes_on_another_day() -> None:
    made = planned("provider")
    before = {one.case.e_ncf: one.original for one in rehearsed(cases(made))}
    sent = {number: before[number] for number in ("E310000000001",)}
    later = {one.e_ncf: one for one in cases(made, sent, days=1)}
    day = "Encabezado.Emisor.FechaEmision"
    assert later["E310000000001"].document.get(day) == "20-11-2026"
    assert later["E340000000001"].document.get(day) == "21-11-2026"
    assert later["E340000000001"].document.get("InformacionReferencia.FechaNCFModificado") == "20-11-2026"


def test_plan_is_kept_as_it_was_made() -> None:
    made = planned("own", products=[replace(sold("Café", "100.5"), itbis=ItbisRate.R16)])
    assert read_plan(write_plan(made)) == made
    kept: Any = made[0].payload["DetallesItems"]["Item"][0]
    assert kept == {
        **{"IndicadorFacturacion": "2", "NombreItem": "Café", "IndicadorBienoServicio": "1"},
        **{"CantidadItem": "2", "UnidadMedida": "43", "PrecioUnitarioItem": "100.5000"},
    }


def test_run_stops_on_another_day_and_after_a_rejection_that_left_the_number_free() -> None:
    original = rehearsed(cases(planned("provider")))[0].original
    assert is_of_today(original, NOW)
    assert not is_of_today(original, NOW + timedelta(days=1))
    response = {"mensajes": [{"valor": "Secuencia no autorizada", "codigo": "145"}]}
    outcome = CaseOutcome(None, Status.REJECTED, NumberFate.REUSABLE, response)
    case = RunCase(1, "case", "E310000000001", False, 1, None, False, outcome)
    free = "; its number was not used. The portal's counters fall back."
    for kind, said, to_do in (
        (RunKind.SET, free, ToDo.NEW_SET),
        (RunKind.SIMULATION, free, ToDo.NEW_PLAN),
        (RunKind.APPROVALS, "Secuencia no autorizada (145). The portal's counters fall back.", ToDo.NEW_SET),
    ):
        stop = stop_of(case, kind)
        assert stop is not None
        assert stop.said.en.endswith(said)
        assert ("; su número no se usó. Los contadores del portal retroceden." in stop.said.es) == (said == free)
        assert stop.to_do is to_do
        assert "uevo" in ACTS[to_do].page.es


def test_every_act_names_a_command_at_a_terminal_and_none_on_a_page() -> None:
    assert set(ACTS) == set(ToDo)
    for to_do in ToDo:
        values = {"step": 4, "number": "E310000000001", "submission": "7", "prefix": "E31"}
        refused = CannotRun(Text("it stopped.", "se detuvo."), to_do, **values)
        for terminal, page in ((refused.text.en, on_page(refused).en), (refused.text.es, on_page(refused).es)):
            assert "`" in terminal
            assert "`" not in page
            assert "--" not in page
            assert "{" not in terminal + page
