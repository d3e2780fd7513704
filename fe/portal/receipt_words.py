"""Names of receipts, states and events, in both languages."""

from collections.abc import Mapping
from dataclasses import dataclass

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.texts import Text
from fe.lifecycle import EventKind, NumberFate, Place, Status
from fe.store.records.counterparty import HandingState
from fe.store.records.mail import MailState
from fe.store.records.received import ApprovalStatus
from fe.store.webhooks.deliveries import DeliveryState


@dataclass(frozen=True, slots=True)
class Badge:
    """A state as a word in a colour: `ok`, `warn`, `bad` or `soft`."""

    colour: str
    text: Text


STATUSES: Mapping[str, Badge] = {
    Status.QUEUED: Badge("soft", Text("On its way", "Enviando a la DGII")),
    Status.PROCESSING: Badge("soft", Text("In process at the DGII", "En proceso en la DGII")),
    Status.ACCEPTED: Badge("ok", Text("Accepted", "Aceptado")),
    Status.CONDITIONAL: Badge("warn", Text("Accepted with remarks", "Aceptado condicional")),
    Status.REJECTED: Badge("bad", Text("Rejected", "Rechazado")),
    # Also for receipts that were rejected at once, or given up in doubt.
    Status.ERROR: Badge("bad", Text("Error: no verdict", "No se pudo enviar")),
    Place.DEAD_LETTER: Badge("bad", Text("Needs the operator", "En revisión por soporte")),
}

TYPE_NAMES: Mapping[EcfType, Text] = {
    EcfType.CREDIT_FISCAL: Text("Fiscal credit invoice", "Factura de crédito fiscal"),
    EcfType.CONSUMER: Text("Consumer invoice", "Factura de consumo"),
    EcfType.DEBIT_NOTE: Text("Debit note", "Nota de débito"),
    EcfType.CREDIT_NOTE: Text("Credit note", "Nota de crédito"),
    EcfType.PURCHASES: Text("Purchases", "Compras"),
    EcfType.MINOR_EXPENSES: Text("Minor expenses", "Gastos menores"),
    EcfType.SPECIAL_REGIME: Text("Special regime", "Regímenes especiales"),
    EcfType.GOVERNMENTAL: Text("Governmental", "Gubernamental"),
    EcfType.EXPORTS: Text("Exports", "Exportaciones"),
    EcfType.PAYMENTS_ABROAD: Text("Payments abroad", "Pagos al exterior"),
}
TYPES: Mapping[EcfType, Text] = {
    code: Text(f"{code.prefix} {name.en}", f"{code.prefix} {name.es}") for code, name in TYPE_NAMES.items()
}
_ROOTS = {
    Root.ACECF: Text("Commercial approval", "Aprobación comercial"),
    Root.ANECF: Text("Voiding of numbers", "Anulación de secuencias"),
}

FATES: Mapping[NumberFate, Text] = {
    NumberFate.RESERVED: Text("reserved for this receipt", "reservado para este comprobante"),
    NumberFate.USED: Text("used: no other receipt may have it", "utilizado"),
    NumberFate.REUSABLE: Text("free again: the next one may have it", "disponible de nuevo"),
    NumberFate.UNKNOWN: Text(
        "not known yet: do not use it again until it is", "aún no se sabe: no lo use de nuevo hasta saberlo"
    ),
    NumberFate.VOID: Text("voided", "anulado"),
}

TAKEN_SINCE = Text(
    "given back by this one, and not free: another receipt has it now",
    "este lo devolvió, y no está libre: ahora lo lleva otro comprobante",
)

EVENTS: Mapping[str, Text] = {
    EventKind.ACCEPTED: Text("Received from you and stored", "Recibido de usted y guardado"),
    EventKind.SIGNED: Text("Made, checked and signed", "Elaborado, verificado y firmado"),
    EventKind.REMARKED: Text("Signed with remarks", "Firmado con observaciones"),
    EventKind.SENDING: Text("Sent to the DGII", "Enviado a la DGII"),
    EventKind.RECEIVED: Text(
        "The DGII has it; its verdict is to come", "La DGII lo recibió; falta su respuesta definitiva"
    ),
    EventKind.PROCESSING: Text("The DGII is still at it", "La DGII aún lo procesa"),
    EventKind.OUTCOME_UNKNOWN: Text(
        "Nobody knows yet whether it arrived: the DGII is asked before it is sent again",
        "Aún no se sabe si llegó: se consulta a la DGII antes de reenviarlo",
    ),
    EventKind.NOT_KNOWN_THERE: Text(
        "The DGII does not know it: the same document goes out again",
        "La DGII no lo tiene: se envía de nuevo el mismo documento",
    ),
    EventKind.VERDICT: Text("Verdict of the DGII", "Respuesta de la DGII"),
    EventKind.ERROR: Text("It ended in an error, without a verdict", "Terminó en error, sin respuesta de la DGII"),
    EventKind.RETRY: Text("It did not work out; tried again later", "No resultó; se intenta de nuevo más tarde"),
    EventKind.DEAD_LETTER: Text(
        "Out of attempts: the operator of the service looks into it",
        "Se agotaron los intentos: lo revisa el soporte del servicio",
    ),
    EventKind.REPLAYED: Text("Set going again by the operator", "Reenviado por el soporte del servicio"),
    EventKind.DISCARDED: Text("Given up by the operator", "Descartado por el soporte del servicio"),
}

HANDINGS: Mapping[HandingState, Badge] = {
    HandingState.PENDING: Badge("soft", Text("On its way", "Enviando")),
    HandingState.DELIVERED: Badge("ok", Text("Delivered", "Entregado")),
    HandingState.REFUSED: Badge("bad", Text("They do not take it", "No lo aceptan")),
    HandingState.UNLISTED: Badge("warn", Text("No address in the DGII's directory", "Sin dirección en la DGII")),
    HandingState.GAVE_UP: Badge("bad", Text("Could not be delivered", "No se pudo entregar")),
}

MAILS: Mapping[MailState, Badge] = {
    MailState.WAITING: Badge("soft", Text("Waiting", "En espera")),
    MailState.SENT: Badge("ok", Text("Sent", "Enviado")),
    MailState.REFUSED: Badge("bad", Text("Refused", "Rechazado")),
    MailState.SUPPRESSED: Badge("warn", Text("This address gets no mail", "Esta dirección no recibe correos")),
    MailState.FAILED: Badge("bad", Text("Could not be sent", "No se pudo enviar")),
}

DECISIONS: Mapping[ApprovalStatus, Badge] = {
    ApprovalStatus.PENDING: Badge("soft", Text("Not decided", "Pendiente")),
    ApprovalStatus.APPROVED: Badge("ok", Text("Approved", "Aprobado")),
    ApprovalStatus.REJECTED: Badge("bad", Text("Rejected", "Rechazado")),
}

#: Decisions that the authority has not accepted yet.
TAKEN_DECISIONS: Mapping[ApprovalStatus, Badge] = {
    ApprovalStatus.APPROVED: Badge("soft", Text("Approved: being sent to the DGII", "Aprobado: enviándose a la DGII")),
    ApprovalStatus.REJECTED: Badge("soft", Text("Rejected: being sent to the DGII", "Rechazado: enviándose a la DGII")),
}

DELIVERIES: Mapping[DeliveryState, Badge] = {
    DeliveryState.PENDING: Badge("soft", Text("On its way", "Enviando")),
    DeliveryState.HELD: Badge("warn", Text("Held", "Retenida")),
    DeliveryState.DELIVERED: Badge("ok", Text("Delivered", "Entregada")),
    DeliveryState.FAILED: Badge("bad", Text("Failed", "Fallida")),
}

#: The last line of a file that could not hold all there is.
MORE_ROWS = Text(
    "There are more: narrow the dates and take another file.", "Hay más: acote las fechas y descargue otro archivo."
)


def status_badge(status: str, *, is_given_up: bool = False) -> Badge:
    """A submission's state; a dead letter is one, whatever its client is told meanwhile."""
    return STATUSES[Place.DEAD_LETTER if is_given_up else status]


def kind_of(root: Root, ecf_type: EcfType | None) -> Text:
    """Name the kind of document; a summary is one of consumer invoices."""
    if ecf_type is not None:
        return TYPES[ecf_type]
    return _ROOTS.get(root) or Text(root.value, root.value)


def event_words(kind: str) -> Text:
    """Name an event of a receipt's history; unknown ones of a newer release keep their own name."""
    return EVENTS.get(kind) or Text(kind, kind)
