"""A till whose key is in a token: SoftHSM, by PKCS #11."""

from pathlib import Path

import pytest
import trio
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.agent.shop import open_shop, sale
from tests.system.stack import running_stack
from tests.test_hsm import MODULE, PIN

pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(MODULE is None, reason="no SoftHSM here (apt-get install softhsm2)"),
]


async def test_agent_signs_with_a_key_in_a_token(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path / "service") as stack, open_shop(stack, tmp_path) as shop:
        (shop.home / "tokens").mkdir()
        (shop.home / "softhsm2.conf").write_text(f"directories.tokendir = {shop.home}/tokens\nlog.level = ERROR\n")
        key = stack.credential.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (shop.home / "key.pem").write_bytes(key)
        for command in (
            ["--init-token", "--free", "--label", "till", "--so-pin", "13579"],
            ["--import", str(shop.home / "key.pem"), "--token", "till", "--label", "key", "--id", "01"],
        ):
            line = ["softhsm2-util", *command, "--pin", PIN]
            await trio.run_process(line, capture_stdout=True, env=shop.environment)
        (shop.home / "till.p12").write_bytes(stack.credential.certificate.public_bytes(Encoding.PEM))
        (shop.home / "passphrase").write_text(PIN + "\n")
        uri = f"pkcs11:token=till;object=key?module-path={MODULE}"
        await shop.init(f"--token={uri}")
        unknown = await shop.fe(
            "init",
            str(shop.folder),
            f"--certificate={shop.home}/till.p12",
            f"--passphrase-file={shop.home}/passphrase",
            f"--token={uri.replace('object=key', 'object=other')}",
            code=1,
        )
        shop.start()
        answer = await shop.sell("one", sale("E31"))
        assert answer.status_code == 202, answer.text
        status = await shop.until_done(1)
        paper = shop.papers["one"]
        (kept,) = (await stack.client.get("/invoices")).json()["items"]

    assert "cannot be used" in unknown
    assert (status["signs"], status["rejected"]) == ("till", 0)
    assert (kept["eNCF"], kept["securityCode"]) == (paper["eNCF"], paper["securityCode"])
