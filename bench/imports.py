"""An import of thousands of rows, and a service killed (-9) at random moments: is each row issued exactly once?

    python -m bench.imports [--rows 5000] [--kills 5] [--seed 1]

The service is started again after each kill, and nothing else is done: it goes on by itself. Prints one line of JSON;
exits with 1 where a row was issued twice, not at all, or a number was drawn in vain.
"""

import argparse
import base64
import json
import random
import sys
import time
from urllib.request import ProxyHandler, Request, build_opener

import psycopg

from bench.stack import Stack, open_stack

#: The longest time for all.
_MAX_SECONDS = 480.0
_OPENER = build_opener(ProxyHandler({}))
_HEAD = "Comprobante,TipoeCF,NombreItem,IndicadorBienoServicio,CantidadItem,PrecioUnitarioItem,IndicadorFacturacion"


def _call(stack: Stack, path: str, body: object = None, method: str = "GET") -> dict[str, object]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {stack.token}", "Content-Type": "application/json"}
    request = Request(f"{stack.base_url}{path}", data, headers, method=method)
    with _OPENER.open(request, timeout=60) as answer:
        read: dict[str, object] = json.load(answer)
        return read


def _ready_state(stack: Stack, import_id: str, state: str, kills: list[float]) -> dict[str, object]:
    """Wait until an import has a state; kill the service each time the next of `kills` seconds has passed."""
    until = time.monotonic() + _MAX_SECONDS
    born = time.monotonic()
    while time.monotonic() < until:
        if kills and time.monotonic() - born >= kills[0]:
            kills.pop(0)
            stack.stop("service", hard=True)
            stack.start_service()
            born = time.monotonic()
        found = _call(stack, f"/imports/{import_id}")
        if found["state"] == state:
            return found
        time.sleep(0.05)
    raise SystemExit(f"not {state} after {_MAX_SECONDS:g} s: {found}")


def main() -> None:
    """Import, kill, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    lots = random.Random(given.seed)
    with open_stack() as stack:
        stack.provision()
        stack.start_service()
        stack.log_in()
        _call(stack, "/ncf", {"prefix": "E32", "maxSequence": given.rows + 1000, "expireAt": "2030-12-31"}, "POST")
        rows = "\n".join(f"K-{at},32,Café,1,1,{at + 1},1" for at in range(given.rows))
        content = base64.b64encode(f"{_HEAD}\n{rows}\n".encode()).decode()
        began = time.monotonic()
        import_id = str(_call(stack, "/imports", {"name": "k.csv", "content": content}, "POST")["importId"])
        early = given.kills // 3
        _ready_state(stack, import_id, "validated", [lots.uniform(0.5, 3) for _ in range(early)])
        validated = time.monotonic() - began
        _call(stack, f"/imports/{import_id}/issue", None, "POST")
        late = [lots.uniform(0.2, 2) for _ in range(given.kills - early)]
        ended = _ready_state(stack, import_id, "issued", late)
        took = time.monotonic() - began
        with psycopg.connect(stack.dsn, autocommit=True) as conn:
            counted = conn.execute(
                "SELECT count(*), count(DISTINCT client_request_id), count(DISTINCT e_ncf), min(e_ncf), max(e_ncf)"
                "  FROM submissions WHERE client_request_id LIKE 'import:K-%'"
            ).fetchone()
        assert counted is not None
        submissions, keys, numbers, first, last = counted
        span = int(last[3:]) - int(first[3:]) + 1
        said = {
            "rows": given.rows,
            "kills": given.kills - len(late),
            "issued": ended["issued"],
            "submissions": submissions,
            "keys": keys,
            "numbers": numbers,
            "numbersSpanned": span,
            "secondsToValidate": round(validated, 1),
            "seconds": round(took, 1),
        }
        sys.stdout.write(json.dumps(said) + "\n")
        if not submissions == keys == numbers == span == given.rows == ended["issued"]:
            sys.exit(1)


if __name__ == "__main__":
    main()
