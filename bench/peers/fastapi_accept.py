"""The usual design: FastAPI on uvicorn (httptools, uvloop), asyncpg's pool, the token checked, one transaction.

It validates the body with pydantic, verifies the JWT, and stores the submission by the function our own front calls.
Run by bench/http.py in a venv of its own: `python fastapi_accept.py PORT DSN SECRET_HEX TENANT PROCESSES POOL`.
"""

import hashlib
import json
import os
import socket
import sys
import uuid
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import asyncpg
import jwt
import uvicorn
import uvloop
from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel

PORT, DSN, SECRET, TENANT = int(sys.argv[1]), sys.argv[2], bytes.fromhex(sys.argv[3]), int(sys.argv[4])
PROCESSES, POOL = int(sys.argv[5]), int(sys.argv[6])
ACCEPT = """
    SELECT outcome, submission_id, status FROM accept_submission(
        $1, $2, $3, 'testecf', $4, NULL, $5, 'structured', 'ECF', '31', $6, NULL, $7, NULL, NULL, $8, NULL)
"""


class Invoice(BaseModel):
    format: Literal["xml", "structured"]
    xml: str | None = None
    payload: dict[str, Any] | None = None
    clientRequestId: str | None = None
    asUser: str | None = None
    asUserId: uuid.UUID | None = None


def connect_arguments(dsn: str) -> dict[str, Any]:
    parts = urlsplit(dsn)
    return {"user": parts.username, "database": parts.path.lstrip("/"), "host": parse_qs(parts.query)["host"][0]}


@asynccontextmanager
async def life(app: FastAPI):
    settings = {"plan_cache_mode": "force_generic_plan", "role": "fe_front"}
    async with asyncpg.create_pool(
        min_size=POOL, max_size=POOL, server_settings=settings, **connect_arguments(DSN)
    ) as pool:
        app.state.pool = pool
        yield


app = FastAPI(lifespan=life)


@app.post("/api/v1/fe/invoices", status_code=202)
async def create(invoice: Invoice, authorization: str = Header()) -> dict[str, Any]:
    try:
        claims = jwt.decode(authorization.removeprefix("Bearer "), SECRET, algorithms=["HS256"], audience="fe-api")
    except jwt.InvalidTokenError as error:
        raise HTTPException(401, "Invalid or expired token") from error
    assert invoice.payload is not None
    original = json.dumps(invoice.payload, sort_keys=True).encode()
    head = invoice.payload["Encabezado"]
    async with app.state.pool.acquire() as conn:
        row = await conn.fetchrow(
            ACCEPT,
            TENANT,
            new_id(),
            datetime.now(UTC),
            claims["sub"],
            hashlib.sha256(original).digest(),
            head["IdDoc"]["eNCF"],
            head["Comprador"]["RNCComprador"],
            original,
        )
    return {"taxLogId": str(row[1]), "status": row[2], "environment": "testecf", "billable": False, "message": "ok"}


def new_id() -> uuid.UUID:
    """Of version 7, as ours: rows go into the month that is."""
    moment = int(datetime.now(UTC).timestamp() * 1000)
    random = int.from_bytes(os.urandom(10)) & ~(0xF << 76 | 3 << 62)
    return uuid.UUID(int=moment << 80 | 7 << 76 | 2 << 62 | random)


def main() -> None:
    listener = socket.create_server(("127.0.0.1", PORT), backlog=1024)
    for _ in range(PROCESSES - 1):
        if os.fork() == 0:
            break
    config = uvicorn.Config(app, http="httptools", loop="uvloop", log_level="error", access_log=False)
    uvloop.run(uvicorn.Server(config).serve(sockets=[listener]))


main()
