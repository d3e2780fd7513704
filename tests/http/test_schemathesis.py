"""Schemathesis against a live server: no request gets a 5xx, and every answer is as described.

A short run; `python -m tests.http.storm` makes any number of calls.
"""

from pathlib import Path

import pytest

from fe.store.postgres.db import Database
from tests.http.storm import storm

CALLS, SEED = 400, 1


#: For what hangs: all of it takes a minute or two.
@pytest.mark.timeout(1800)
async def test_no_call_that_schemathesis_thinks_of_is_answered_out_of_order(
    db: Database, front_db: Database, tmp_path: Path
) -> None:
    part = await storm(db, front_db, tmp_path, seed=SEED, calls=CALLS)

    assert part.is_well, f"{part}\n{part.report[-8000:]}"
    # Schemathesis chooses the number of calls itself, and makes more with each new route; far too few prove nothing.
    assert part.calls > 3_000
    assert part.statuses["202"] > 0
