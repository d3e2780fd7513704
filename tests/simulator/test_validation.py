"""The validation of a document and the parts it is made of, beside the rules and the samples of the authority."""

from datetime import UTC, datetime
from typing import Any

import pytest
from lxml import etree

from fe.authority.estado import Estado
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.parse import parse_xml
from fe.ecf.rules import RULES
from fe.ecf.signature import signature_time
from fe.simulator.examine import DocumentFacts
from fe.simulator.ledger import Filed, Ledger, LedgerVerdict, Voided
from fe.simulator.operations import SimulatedOperation
from fe.simulator.validation import _REASONS, ADVICE
from tests.shared import needs_shared, shared
from tests.simulator.support import ISSUER, Running, ecf, number, signer


def test_the_judge_knows_only_codes_that_the_rules_have() -> None:
    assert set(RULES) >= ADVICE | set(_REASONS)


@needs_shared
@pytest.mark.parametrize(
    ("name", "estado"),
    [
        ("ecf31-itbis-included-global-discounts.xml", "Aceptado"),
        ("ecf31-beer-selective-tax.xml", "Aceptado"),
        ("ecf34-text-correction-zero-total.xml", "Aceptado"),
        ("ecf41-withholding.xml", "Aceptado"),
        ("rfce32-summary-of-ecf32.xml", "Aceptado"),
        ("ecf32-under-250k-full.xml", "Rechazado"),  # its place is summary reception
    ],
)
async def test_the_authority_s_samples_are_judged_as_they_should_be(simulator: Running, name: str, estado: str) -> None:
    root = parse_xml(shared(f"samples/{name}").read_bytes())
    signed_at = root.find("FechaHoraFirma")
    if signed_at is not None:
        signed_at.text = signature_time(datetime.now(UTC))
    content = signer().sign(root).xml
    encf = root.findtext("Encabezado/IdDoc/eNCF") or ""

    reply: Any
    if root.tag == "RFCE":
        reply = (await simulator.summary(content, encf)).json()
    else:
        reply = await simulator.verdict(content, encf)

    assert reply["estado"] == estado, reply


async def test_an_empty_tag_is_rejected(simulator: Running) -> None:
    root = etree.fromstring(ecf())
    name = root.find("Encabezado/Emisor/DireccionEmisor")
    assert name is not None
    name.text = None

    verdict = await simulator.verdict(signer().sign(root).xml, number(31, 1))

    assert (verdict["estado"], verdict["mensajes"][0]["codigo"]) == ("Rechazado", 1)


@pytest.mark.parametrize("last", [9, 5_000_000_000])
def test_used_numbers_are_found_in_short_and_in_vast_ranges(last: int) -> None:
    ledger = Ledger()
    now = datetime.now(UTC)
    for sequence in range(1, 21):
        used = sequence % 2 == 0
        verdict = LedgerVerdict(Estado.ACCEPTED if used else Estado.REJECTED, (), number_used=used)
        ledger.file(
            Filed(
                SimulatedOperation.RECEPTION,
                Environment.TESTECF,
                ISSUER,
                number(31, sequence),
                f"t{sequence}",
                "",
                now,
                DocumentFacts("ECF"),
                verdict,
                now,
            )
        )

    found = list(ledger.used_within(Voided(Environment.TESTECF, ISSUER, EcfType.CREDIT_FISCAL, 5, last)))

    assert found == [number(31, n) for n in range(6, min(last, 20) + 1, 2)]
