"""The calls of docs/webhook-vectors.json, which integrators test their consumers with."""

import json
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "docs" / "webhook-vectors.json"
PAGE = ROOT / "docs" / "webhooks.md"


@dataclass(frozen=True)
class Vector:
    name: str
    valid: bool
    now: int
    headers: dict[str, str]
    body: bytes


_read = json.loads(FILE.read_text(encoding="utf-8"))
SECRET: str = _read["secret"]
VECTORS = [Vector(**{**call, "body": call["body"].encode()}) for call in _read["calls"]]
