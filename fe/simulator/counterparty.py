"""The simulated counterparty of testecf: a receiver of receipts and an issuer that takes approvals.

See authority.md#receivers. It takes documents with a good signature and gives the same bytes the same acknowledgement.
It signs with the simulated supplier's certificate (`GET /supplier` of the management port).
"""

from functools import partial
from hashlib import sha256

import trio

from fe.ecf.build import build
from fe.ecf.catalogue import Root
from fe.ecf.dates import show_moment
from fe.ecf.document import Document
from fe.ecf.parse import MAX_SIGNED_BYTES, MAX_SIGNED_ELEMENTS, MalformedXml
from fe.ecf.signature import BadSignature, Signer, verify
from fe.simulator.exchange import RawAnswer
from fe.simulator.faults import FaultKind
from fe.simulator.multipart import Part
from fe.simulator.recorder import RecordedDelivery
from fe.simulator.replies import TEXT, XML
from fe.simulator.state import AuthorityCall, AuthorityState

_SENT = frozenset({"31", "33", "34", "44"})

_verify = partial(verify, max_bytes=MAX_SIGNED_BYTES, max_elements=MAX_SIGNED_ELEMENTS)


async def receive(state: AuthorityState, call: AuthorityCall) -> RawAnswer:
    """Acknowledge an e-CF; 400 where there is none to acknowledge."""
    if not isinstance(call.part, Part):
        return RawAnswer(400, b"no hay un archivo xml", TEXT)
    raw = call.part.content
    try:
        verified = await trio.to_thread.run_sync(_verify, raw, limiter=state.verifiers)
        root, reason = verified.root, None
    except MalformedXml:
        return RawAnswer(400, b"no es un XML", TEXT)
    except BadSignature:
        return RawAnswer(400, b"la firma no es correcta", TEXT)
    said = {
        name: root.findtext(path) or ""
        for name, path in (
            ("issuer", "Encabezado/Emisor/RNCEmisor"),
            ("buyer", "Encabezado/Comprador/RNCComprador"),
            ("number", "Encabezado/IdDoc/eNCF"),
            ("type", "Encabezado/IdDoc/TipoeCF"),
        )
    }
    if root.tag != Root.ECF or said["type"] not in _SENT:
        reason = "1"
    digest = sha256(raw).hexdigest()
    before = [
        each
        for each in state.deliveries
        if (each.environment, each.root, each.issuer, each.e_ncf, each.estado)
        == (call.environment, Root.ECF, said["issuer"], said["number"], "0")
    ]
    same = next((each for each in before if each.digest == digest), None)
    if before and same is None:
        reason = "3"
    answer = same.answer if same is not None else _acknowledgement(state, call, said, reason)
    estado = "0" if reason is None else f"1/{reason}"
    state.deliveries.append(
        RecordedDelivery(
            call.now, call.environment, str(root.tag), said["issuer"], said["number"], digest, estado, answer
        )
    )
    if call.suffers(FaultKind.WRONG_ACKNOWLEDGEMENT):
        another = {**said, "number": f"{said['number'][:3]}9999999999"}
        return RawAnswer(200, _acknowledgement(state, call, another, reason), XML)
    return RawAnswer(200, answer, XML)


def _acknowledgement(state: AuthorityState, call: AuthorityCall, said: dict[str, str], reason: str | None) -> bytes:
    detail = {
        "Version": "1.0",
        "RNCEmisor": said["issuer"],
        "RNCComprador": said["buyer"],
        "eNCF": said["number"],
        "Estado": "0" if reason is None else "1",
        **({} if reason is None else {"CodigoMotivoNoRecibido": reason}),
        "FechaHoraAcuseRecibo": show_moment(call.now),
    }
    document = build(Document(Root.ARECF, None, {"DetalleAcusedeRecibo": detail}))
    return Signer(state.supplier.credential).sign(document).xml


async def take_approval(state: AuthorityState, call: AuthorityCall) -> RawAnswer:
    """Take an ACECF: 200, or 400 for what is none."""
    if not isinstance(call.part, Part):
        return RawAnswer(400, b"no hay un archivo xml", TEXT)
    raw = call.part.content
    try:
        verified = await trio.to_thread.run_sync(_verify, raw, limiter=state.verifiers)
    except (MalformedXml, BadSignature):
        return RawAnswer(400, b"la firma no es correcta", TEXT)
    detail = verified.root.find("DetalleAprobacionComercial")
    if verified.root.tag != Root.ACECF or detail is None:
        return RawAnswer(400, b"no es una aprobacion comercial", TEXT)
    issuer, number = detail.findtext("RNCEmisor") or "", detail.findtext("eNCF") or ""
    state.deliveries.append(
        RecordedDelivery(call.now, call.environment, Root.ACECF, issuer, number, sha256(raw).hexdigest(), "0", b"")
    )
    return RawAnswer(200, b"", TEXT)
