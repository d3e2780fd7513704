"""What many would write first: FastAPI on uvicorn (h11), psycopg's pool, the token checked, one transaction.

It validates the body with pydantic, verifies the JWT, and stores the submission by the function our own front calls.
Run by bench/http.py in a venv of its own: `python fastapi_accept.py PORT DSN SECRET_HEX TENANT`.
"""

import asyncio
import hashlib
import json
import sys
import uuid
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Literal

import jwt
import uvicorn
from fastapi import FastAPI, Header, HTTPException
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel

PORT, DSN, SECRET, TENANT = int(sys.argv[1]), sys.argv[2], bytes.fromhex(sys.argv[3]), int(sys.argv[4])
ACCEPT = """
    SELECT outcome, submission_id, status FROM accept_submission(
        %s, %s, %s, 'testecf', %s, NULL, %s, 'structured', 'ECF', '31', %s, NULL, %s, NULL, NULL, %s, NULL)
"""


class Invoice(BaseModel):
    format: Literal["xml", "structured"]
    xml: str | None = None
    payload: dict[str, Any] | None = None
    clientRequestId: str | None = None
    asUser: str | None = None
    asUserId: uuid.UUID | None = None


@asynccontextmanager
async def life(app: FastAPI):
    async with AsyncConnectionPool(DSN, min_size=8, max_size=8, kwargs={"autocommit": True}) as pool:
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
    values = (
        TENANT,
        uuid.uuid4(),
        datetime.now(UTC),
        claims["sub"],
        hashlib.sha256(original).digest(),
        head["IdDoc"]["eNCF"],
        head["Comprador"]["RNCComprador"],
        original,
    )
    async with app.state.pool.connection() as conn:
        row = await (await conn.execute(ACCEPT, values)).fetchone()
    return {"taxLogId": str(row[1]), "status": row[2], "environment": "testecf", "billable": False, "message": "ok"}


asyncio.run(uvicorn.Server(uvicorn.Config(app, port=PORT, http="h11", loop="asyncio", log_level="error")).serve())
