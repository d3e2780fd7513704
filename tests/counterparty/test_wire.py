"""Every answer of a counterparty is at worst a failed try: an error of ours would stop the other deliveries, too."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
import trio

from fe.counterparty.wire import CannotReach, Counterparties, CounterpartyAnswer
from fe.ecf.signature import Signer
from fe.egress.client import Egress
from fe.egress.target import Policy
from fe.store.records.counterparty import HandingKind
from tests.authority.scripted import Step, say
from tests.factories.certificates import default_credential
from tests.webhooks.receiver import Receiver, receiving

SIGNER = Signer(default_credential())
NOW = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)
ASKS_FOR_A_TOKEN = say(b"", 401)
SEED = b"<SemillaModel><valor>x</valor><fecha>y</fecha></SemillaModel>"


@dataclass(frozen=True)
class Ours:
    id: str
    signer: Signer


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


@pytest.fixture
async def elsewhere() -> AsyncIterator[Receiver]:
    """Where the directory says that they give tokens."""
    async with receiving() as one:
        yield one


async def deliver(receiver: Receiver, tokens: str | None = None) -> CounterpartyAnswer:
    async def announce(_: str) -> None:
        await trio.lowlevel.checkpoint()

    egress, base = Egress(Policy(development=True)), f"http://127.0.0.1:{receiver.port}"
    counterparties, ours = Counterparties(egress, lambda: NOW, trio.CapacityLimiter(1)), Ours("c1", SIGNER)
    return await counterparties.deliver(
        base, HandingKind.RECEIPT, "131880738E310000000001.xml", b"<ECF/>", ours, tokens=tokens, before_send=announce
    )


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        ("120", timedelta(seconds=120)),
        ("Fri, 06 Nov 2026 14:16:30 +9999999999999999", None),
        ("06 Nov 9999999999999999999999 14:16:30 GMT", None),
    ],
)
async def test_an_answer_is_an_answer_whenever_it_wants_us_back(
    receiver: Receiver, said: str, wait: timedelta | None
) -> None:
    receiver.steps.append(say(b"busy", 503, Retry_After=said))

    assert await deliver(receiver) == CounterpartyAnswer(503, b"busy", False, wait)


@pytest.mark.parametrize(
    "steps",
    [
        [say(b"", 500)],
        [say(b"<html/>")],
        [say(b'<SemillaModel xmlns:x="a/b"><valor>x</valor><fecha>y</fecha></SemillaModel>')],
        [say(b'<SemillaModel xmlns:x="http://a/?b&amp;c"><valor>x</valor><fecha>y</fecha></SemillaModel>')],
        [say(SEED), say(b"", 500, Retry_After="Fri, 06 Nov 2026 14:16:30 +9999999999999999")],
        [say(SEED), say({"token": "a\r\nX-A: b"})],
        [say(SEED), say({"token": "ñ"})],
        [say(SEED), say(b"[" * 1000)],
    ],
)
async def test_receiver_that_requires_but_gives_no_token_is_unreachable(receiver: Receiver, steps: list[Step]) -> None:
    receiver.steps.extend([ASKS_FOR_A_TOKEN, *steps])

    with pytest.raises(CannotReach, match=r"they (ask for a|give no) token"):
        await deliver(receiver)

    assert len(receiver.heard) == 1 + len(steps)


TOKEN = {"token": "abc", "expira": "2026-11-06T15:15:30Z", "expedido": "2026-11-06T14:15:30Z"}


async def test_token_is_fetched_at_the_directory_address(receiver: Receiver, elsewhere: Receiver) -> None:
    """urlOpcional (authority.md#directory): another host than the one that takes documents, perhaps."""
    receiver.steps.extend([ASKS_FOR_A_TOKEN, say(b"taken")])
    elsewhere.steps.extend([say(SEED), say(TOKEN)])

    answer = await deliver(receiver, f"http://127.0.0.1:{elsewhere.port}/sesiones")

    assert (answer.status, answer.body) == (200, b"taken")
    assert [one.path for one in elsewhere.heard] == [
        "sesiones/fe/autenticacion/api/semilla",
        "sesiones/fe/autenticacion/api/validacioncertificado",
    ]
    assert [one.headers.get("authorization") for one in receiver.heard] == [None, "Bearer abc"]


@pytest.mark.parametrize("wrong", [[say(b"", 404)], [say(b"<html/>")], [say(SEED), say(b"", 400)]])
async def test_token_is_fetched_beside_the_documents_as_fallback(
    receiver: Receiver, elsewhere: Receiver, wrong: list[Step]
) -> None:
    receiver.steps.extend([ASKS_FOR_A_TOKEN, say(SEED), say(TOKEN), say(b"taken")])
    elsewhere.steps.extend(wrong)

    assert (await deliver(receiver, f"http://127.0.0.1:{elsewhere.port}")).body == b"taken"
    assert len(elsewhere.heard) == len(wrong)


async def test_failed_token_reports_the_directory_address(receiver: Receiver, elsewhere: Receiver) -> None:
    receiver.steps.extend([ASKS_FOR_A_TOKEN, say(b"", 404)])
    elsewhere.steps.append(say(b"", 503))

    with pytest.raises(CannotReach, match="for a seed they answer 503"):
        await deliver(receiver, f"http://127.0.0.1:{elsewhere.port}")
