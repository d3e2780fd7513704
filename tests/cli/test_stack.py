"""Everything together, as the demonstration and the tests start it."""

import socket

import httpx
import pytest

from fe.cli.failures import Failure
from fe.integrator import stack as module
from fe.integrator.stack import open_stack


async def test_a_port_that_somebody_takes_meanwhile_is_given_up_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    look, found = module._free_ports, list[int]()
    taken = socket.socket()

    def taken_after_the_look(count: int) -> int:
        found.append(look(count))
        if len(found) == 1:
            taken.bind(("127.0.0.1", found[0] + 1))
            taken.listen()
        return found[-1]

    monkeypatch.setattr(module, "_free_ports", taken_after_the_look)
    with taken:
        async with open_stack() as stack, httpx.AsyncClient(trust_env=False, timeout=60) as client:
            answer = await client.get(f"{stack.base_url.removesuffix('/api/v1/fe')}/readyz")

    assert answer.status_code == 200
    assert len(found) == 2


async def test_a_port_that_was_asked_for_and_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Failure, match=f"FE_HTTP_BIND: cannot listen on 127.0.0.1:{port}"):
            async with open_stack(port=port):
                pass
