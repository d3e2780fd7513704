"""The front with the tenant taken out of its statements: what row-level security alone holds back."""

import re
from types import ModuleType
from typing import Any
from uuid import UUID

import httpx
import pytest

from fe.identifiers import SubmissionId, TrackId
from fe.store.postgres.db import Database
from fe.store.records import billing, history, sequences, submissions, tenant_context, usage
from tests.http import worker
from tests.http.front import Running, make_key, make_tenant, structured

_OF_THE_TENANT = re.compile(r"(\b\w+\.)?tenant_id = %\(tenant\)s")
MODULES = (billing, history, tenant_context, sequences, submissions, usage)


def forget_the_tenant(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> int:
    """Take the tenant's condition out of every statement of a module; how many had one."""
    changed = 0
    for name, value in vars(module).items():
        texts = value if isinstance(value, tuple) else (value,)
        if all(isinstance(text, str) for text in texts) and any(map(_OF_THE_TENANT.search, texts)):
            without = tuple(_OF_THE_TENANT.sub("true", text) for text in texts)
            monkeypatch.setattr(module, name, without if isinstance(value, tuple) else without[0])
            changed += 1
    return changed


async def hand_in(api: httpx.AsyncClient, **more: Any) -> str:
    answer = await api.post("/invoices", json=structured(**more))
    assert answer.status_code == 202, answer.text
    return str(answer.json()["taxLogId"])


async def all_answers(api: httpx.AsyncClient, *ids: str) -> list[tuple[int, Any]]:
    """The answers of every reading call of the interface, with these ids and without any."""
    paths = [f"/invoices/{one}{rest}" for one in ids for rest in ("", "/xml", "/timeline")]
    paths += ["/invoices", f"/invoices?cursor={UUID(int=2**128 - 1)}", "/invoices?eNCF=E310000000001"]
    paths += ["/ncf", "/usage?days=30", "/billing/current-period"]
    answers = [await api.get(path) for path in paths]
    return [
        (answer.status_code, {name: value for name, value in answer.json().items() if name != "lastUpdated"})
        for answer in answers
    ]


async def test_without_the_tenant_in_any_statement_nobody_sees_or_changes_what_is_anothers(
    front: Running, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = [await make_key(db, await make_tenant(db, name)) for name in ("ours", "theirs")]
    async with front.client(await front.token(ours)) as api, front.client(await front.token(theirs)) as other:
        for client in (api, other):
            answer = await client.post("/ncf", json={"prefix": "E31", "minSequence": 1, "maxSequence": 50})
            assert answer.status_code == 200, answer.text
        own = await hand_in(api, clientRequestId="one")
        foreign = await hand_in(other, clientRequestId="another")
        await worker.carry_through(db, foreign, track_id=TrackId("theirs"))
        before = await all_answers(api, own, foreign, "theirs"), await all_answers(other, foreign, "theirs", own)

        assert all(forget_the_tenant(monkeypatch, module) for module in MODULES)
        # A login above row-level security finds the foreign row now: the statements really lack the tenant.
        assert await db.run(submissions.find, ours.tenant_id, SubmissionId(UUID(foreign))) is not None
        assert len(await db.run(sequences.listed, ours.tenant_id, ours.environment)) == 2

        assert (
            await all_answers(api, own, foreign, "theirs"),
            await all_answers(other, foreign, "theirs", own),
        ) == before
        # A clientRequestId of another tenant is not known here, so that a strict document is validated.
        validated = await api.post("/invoices", json=structured(clientRequestId="another", strict=True))
        assert validated.status_code == 400
        assert (await api.delete("/ncf/E31")).status_code == 200
        assert len((await other.get("/ncf")).json()["items"]) == 1
