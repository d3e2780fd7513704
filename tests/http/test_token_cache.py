"""The token cache of the quick start, in PHP: many processes, one login."""

import shutil
from pathlib import Path

import pytest
import trio

from tests.clients.snippets import environment, program
from tests.http.front import Key, Running

DOCS = Path(__file__).parents[2] / "docs" / "api"


@pytest.mark.parametrize("page", [DOCS / "README.md", DOCS / "es" / "README.md"], ids=["en", "es"])
async def test_token_cache_of_the_quick_start_logs_in_once_for_many_processes(
    front: Running, key: Key, tmp_path: Path, page: Path
) -> None:
    php = shutil.which("php")
    if php is None:
        pytest.skip("NOT PROVED HERE: there is no PHP")
    (cache,) = program(page, "php")
    file = trio.Path(tmp_path / "token.php")
    await file.write_text(f"<?php\n{cache}\necho fe_token();\n")
    given = environment(front.base_url, (key.api_key_id, key.secret)) | {"TMPDIR": str(tmp_path)}

    # Six logins within a minute would lock the key out.
    tokens = {
        (await trio.run_process([php, str(file)], env=given, capture_stdout=True)).stdout.decode() for _ in range(7)
    }

    (token,) = tokens
    async with front.client() as client:
        answer = await client.get("/ncf", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    kept = await trio.Path(tmp_path / f"fe-token-{key.api_key_id}.json").stat()
    assert kept.st_mode & 0o777 == 0o600
