"""The naive form of the work, as one would write it first: a job at a time from the table, signed by xmlsec where the
event loop runs, sent through a pool of httpx, each step booked with a commit of its own.

    python -m bench.naive_worker DSN AUTHORITY TASKS

Documents are read, filled, checked and built by the code that the service uses (fe/ecf): that is not what is compared.
It ends when no job is left.
"""

import asyncio
import json
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import etree
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool

from fe.authority.multipart import xml_form
from fe.ecf import libxml
from fe.ecf.autofill import autofill
from fe.ecf.build import build
from fe.ecf.document import read_payload
from fe.ecf.rules import check
from fe.ecf.selfmade import self_made

libxml.require_one_libxml2()
set_json_loads(partial(json.loads, parse_float=Decimal))

import xmlsec  # noqa: E402  (only after it was looked at)

TABLE = """
    CREATE TABLE IF NOT EXISTS naive_jobs (
        id bigserial PRIMARY KEY, state text NOT NULL DEFAULT 'new', e_ncf text NOT NULL, payload jsonb NOT NULL,
        signed bytea, track_id text, verdict jsonb, done_at timestamptz
    )
"""
INDEX = "CREATE INDEX IF NOT EXISTS naive_jobs_new ON naive_jobs (id) WHERE state = 'new'"
_CLAIM = """
    UPDATE naive_jobs SET state = 'claimed'
     WHERE id = (SELECT id FROM naive_jobs WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id, e_ncf, payload
"""
_ISSUER = {"RNCEmisor": "131880738", "RazonSocialEmisor": "Banco de pruebas SRL", "DireccionEmisor": "Calle 1"}


class Signer:
    """Signs with xmlsec."""

    def __init__(self) -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        now = datetime.now(UTC)
        made = self_made(
            key, holder="BANCO", holder_id="00112233445", not_before=now - timedelta(1), not_after=now + timedelta(9)
        )
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        self._key: Any = xmlsec.Key.from_memory(private, xmlsec.constants.KeyDataFormatPem)
        certificate = made.certificate.public_bytes(Encoding.PEM)
        self._key.load_cert_from_memory(certificate, xmlsec.constants.KeyDataFormatPem)

    def sign(self, root: etree._Element) -> bytes:
        """Sign the element where it is."""
        signature = xmlsec.template.create(
            root, xmlsec.constants.TransformInclC14N, xmlsec.constants.TransformRsaSha256
        )
        root.append(signature)
        reference = xmlsec.template.add_reference(signature, xmlsec.constants.TransformSha256, uri="")
        xmlsec.template.add_transform(reference, xmlsec.constants.TransformEnveloped)
        xmlsec.template.add_x509_data(xmlsec.template.ensure_key_info(signature))
        context = xmlsec.SignatureContext()
        context.key = self._key
        context.sign(signature)
        return etree.tostring(root, xml_declaration=True, encoding="utf-8")


async def worker(pool: AsyncConnectionPool, client: httpx.AsyncClient, signer: Signer, base: str) -> None:
    """Job after job, until there is none."""
    while True:
        async with pool.connection() as conn:
            job = await (await conn.execute(_CLAIM)).fetchone()
        if job is None:
            return
        number, e_ncf, payload = job
        now = datetime.now(UTC)
        document = autofill(read_payload(payload), issuer=_ISSUER, expiry=date(2028, 12, 31), now=now)
        tree = build(document)
        check(document, now=now, element=tree)
        signed = signer.sign(tree)
        async with pool.connection() as conn:
            await conn.execute("UPDATE naive_jobs SET state = 'signed', signed = %s WHERE id = %s", (signed, number))
        form = xml_form(f"131880738{e_ncf}.xml", signed)
        headers = {"Content-Type": form.content_type, "Authorization": "Bearer naive"}
        answer = await client.post(
            f"{base}/testecf/recepcion/api/facturaselectronicas", content=form.body, headers=headers
        )
        track_id = answer.raise_for_status().json()["trackId"]
        async with pool.connection() as conn:
            await conn.execute("UPDATE naive_jobs SET state = 'sent', track_id = %s WHERE id = %s", (track_id, number))
        answer = await client.get(
            f"{base}/testecf/consultaresultado/api/consultas/estado", params={"trackid": track_id}, headers=headers
        )
        verdict = answer.raise_for_status().json()
        assert verdict["estado"] == "Aceptado", verdict
        async with pool.connection() as conn:
            await conn.execute(
                "UPDATE naive_jobs SET state = 'done', verdict = %s, done_at = clock_timestamp() WHERE id = %s",
                (json.dumps(verdict), number),
            )


async def main(dsn: str, base: str, tasks: int) -> None:
    """Work the table empty."""
    signer = Signer()
    async with (
        AsyncConnectionPool(dsn, min_size=tasks, max_size=tasks) as pool,
        httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_connections=tasks)) as client,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(tasks):
            group.create_task(worker(pool, client, signer, base))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
