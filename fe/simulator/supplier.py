"""The simulator as the other taxpayer: sends receipts, good or broken, and approvals.

See authority.md#receivers. It makes its certificate itself, once per process; a receiver that is to trust it needs that
certificate (`GET /supplier` of the management port).
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

from fe.authority.multipart import xml_form
from fe.certification.reception_samples import (
    ApprovalSample,
    ApprovedReceipt,
    SupplierSample,
    make_approval,
    make_receipt,
)
from fe.ecf.certificate import Credential
from fe.ecf.identity import e_ncf, tax_id
from fe.ecf.parse import parse_json, parse_xml
from fe.ecf.selfmade import self_made
from fe.ecf.signature import Signer
from fe.simulator.fields import BadRecord

_ISSUER = {
    "RNCEmisor": "131880665",
    "RazonSocialEmisor": "Proveedora Simulada SRL",
    "DireccionEmisor": "Calle del Simulador 1",
}
_SECONDS = 30.0
_MAX_TIMES = 10
_RECEPTION, _APPROVAL = "/fe/recepcion/api/ecf", "/fe/aprobacioncomercial/api/ecf"


class Supplier:
    """Makes, signs and sends receipts. `now` is the simulator's clock."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._sent = 0

    @cached_property
    def credential(self) -> Credential:
        """The certificate that it signs with."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        now = self._now()
        year = timedelta(days=365)
        return self_made(
            key, holder="PROVEEDORA SIMULADA", holder_id="00112233445", not_before=now - year, not_after=now + year
        )

    def describe(self) -> dict[str, Any]:
        """Tell who it is, what it signs with, and what it can be told to send."""
        pem = self.credential.certificate.public_bytes(Encoding.PEM).decode()
        return {"rnc": _ISSUER["RNCEmisor"], "pem": pem, "samples": {each: each.expected for each in SupplierSample}}

    async def send(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Send `sample` to the receiver `rnc` at `url` (its base), `times` times the same bytes; tell what came back.

        `eNCF` chooses the number, else each order gets the next. Raises BadRecord.
        """
        url, rnc = order.get("url"), order.get("rnc")
        sample, times, number = order.get("sample", SupplierSample.GOOD), order.get("times", 1), order.get("eNCF")
        base = _base(url)
        if not isinstance(rnc, str) or tax_id(rnc) is None:
            raise BadRecord("rnc: the receiver's tax id")
        if sample not in list(SupplierSample):
            raise BadRecord(f"sample: one of {', '.join(SupplierSample)}")
        if not isinstance(times, int) or not 1 <= times <= _MAX_TIMES:
            raise BadRecord(f"times: a whole number from 1 to {_MAX_TIMES}")
        if number is not None and (not isinstance(number, str) or e_ncf(number) is None):
            raise BadRecord("eNCF: a number such as E310000000001")
        self._sent += 1
        kind = "32" if sample == SupplierSample.CONSUMER else "31"
        number = number or f"E{kind}{self._sent:010}"
        signer = Signer(self.credential)
        document = make_receipt(
            SupplierSample(sample), signer, issuer=_ISSUER, buyer=rnc, number=number, now=self._now()
        )
        answers = await _send(base, _RECEPTION, document, f"{number}.xml", signer, times)
        return {"eNCF": number, "document": b64encode(document).decode(), "answers": answers}

    async def approve(self, url: str, receipt: ApprovedReceipt, issuer: str, rejection: str | None) -> dict[str, Any]:
        """Send the buyer's approval of `receipt`, or its rejection for a reason, to `issuer` at `url`; tell the answer.

        Raises BadRecord.
        """
        base, signer = _base(url), Signer(self.credential)
        document = make_approval(
            ApprovalSample.GOOD, signer, receipt, issuer=issuer, now=self._now(), rejection=rejection
        )
        name = f"{receipt.buyer_rnc}{receipt.e_ncf}.xml"
        answers = await _send(base, _APPROVAL, document, name, signer, 1)
        return {"eNCF": receipt.e_ncf, "document": b64encode(document).decode(), "answers": answers}


def _base(url: object) -> str:
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise BadRecord("url: the base under which the receiver serves /fe/...")
    return url.rstrip("/")


async def _send(
    base: str, path: str, document: bytes, file_name: str, signer: Signer, times: int
) -> list[dict[str, Any]]:
    answers = []
    headers: dict[str, str] = {}
    async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as client:
        for _ in range(times):
            try:
                answer = await _post(client, base + path, document, file_name, headers)
                if answer.status_code == 401 and not headers:
                    headers = {"Authorization": f"Bearer {await _open_session(client, base, signer)}"}
                    answer = await _post(client, base + path, document, file_name, headers)
                answers.append({"status": answer.status_code, "body": answer.text})
            except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as failed:
                answers.append({"status": 0, "body": f"{type(failed).__name__}: {failed}"})
    return answers


async def _post(
    client: httpx.AsyncClient, url: str, content: bytes, file_name: str, headers: Mapping[str, str]
) -> httpx.Response:
    form = xml_form(file_name, content)
    return await client.post(url, content=form.body, headers={**headers, "content-type": form.content_type})


async def _open_session(client: httpx.AsyncClient, url: str, signer: Signer) -> str:
    seed = await client.get(f"{url}/fe/autenticacion/api/semilla")
    signed = signer.sign(parse_xml(seed.content)).xml
    granted = await _post(client, f"{url}/fe/autenticacion/api/validacioncertificado", signed, "semilla.xml", {})
    return str(parse_json(granted.content)["token"])
