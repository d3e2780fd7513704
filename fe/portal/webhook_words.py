"""Names of webhook events, states and failures."""

from fe.ecf.texts import Text
from fe.lifecycle import WebhookEvent
from fe.store.webhooks.deliveries import DeliveryState
from fe.store.webhooks.recoveries import RecoveryState
from fe.webhooks.exchange import STATUS

EVENTS = {
    WebhookEvent.RECEIVED_ECF: Text("A supplier sent you a receipt.", "Un suplidor le envió un comprobante."),
    WebhookEvent.ACCEPTED: Text("DGII accepted one of your receipts.", "La DGII aceptó un comprobante suyo."),
    WebhookEvent.CONDITIONAL: Text(
        "DGII accepted one of your receipts with remarks.", "La DGII aceptó un comprobante suyo con observaciones."
    ),
    WebhookEvent.REJECTED: Text("DGII rejected one of your receipts.", "La DGII rechazó un comprobante suyo."),
    WebhookEvent.ERROR: Text(
        "One of your receipts could not be issued: nothing more happens by itself.",
        "Un comprobante suyo no pudo emitirse: nada más ocurre por sí solo.",
    ),
    WebhookEvent.SEQUENCE_LOW: Text(
        "A number sequence is nearly used up, or is used up.", "Una secuencia está por agotarse, o se agotó."
    ),
    WebhookEvent.SEQUENCE_EXPIRING: Text(
        "A number sequence expires soon, or has expired.", "Una secuencia vence pronto, o ya venció."
    ),
    WebhookEvent.CERTIFICATE_EXPIRING: Text(
        "A digital certificate expires soon, or has expired.", "Un certificado digital vence pronto, o ya venció."
    ),
    WebhookEvent.TEST: Text("A test: made when you ask for it.", "Una prueba: se hace cuando usted la pide."),
}

#: States as addresses call them, with words and the look of their badge.
STATES = {
    "pending": (DeliveryState.PENDING, Text("Waits for its next attempt", "Espera su próximo intento"), "warn"),
    "held": (DeliveryState.HELD, Text("Held: the webhook is not called", "Retenida: el webhook no se llama"), "soft"),
    "delivered": (DeliveryState.DELIVERED, Text("Delivered", "Entregada"), "ok"),
    "failed": (DeliveryState.FAILED, Text("Failed", "Falló"), "bad"),
}
SHOWN_STATES = {state: (words, look) for state, words, look in STATES.values()}

RECOVERY_STATES = {
    RecoveryState.UNDER_WAY: (Text("Under way", "En curso"), "warn"),
    RecoveryState.DONE: (Text("Done", "Terminada"), "ok"),
    RecoveryState.FAILED: (Text("Failed", "Falló"), "bad"),
}

#: Why a call came to nothing (fe/egress/errors.py).
ERRORS = {
    STATUS: Text("It answered with an error", "Respondió con un error"),
    "url": Text("The URL is not allowed", "La URL no está permitida"),
    "address": Text(
        "Its name leads to an address that is not public", "Su nombre lleva a una dirección que no es pública"
    ),
    "dns": Text("Its name was not found", "No se encontró su nombre (DNS)"),
    "connect": Text("No answer at that address", "No hay respuesta en esa dirección"),
    "tls": Text("Its certificate was not accepted (TLS)", "No se aceptó su certificado (TLS)"),
    "proxy": Text("The way out of this installation is blocked", "La salida de esta instalación está bloqueada"),
    "timeout": Text("It took too long", "Tardó demasiado"),
    "closed": Text("It closed the connection without an answer", "Cerró la conexión sin responder"),
    "answer": Text("Its answer is not HTTP that can be read", "Su respuesta no es HTTP legible"),
}

DISABLED = {
    "gone": Text(
        "It answered 410 (gone), so the webhook was disabled. Events are kept, and delivered once you enable it.",
        "Respondió 410 (ya no existe), por eso no se llama más. Lo que ocurra mientras tanto se guarda y se entrega"
        " cuando usted lo active.",
    ),
    "failing": Text(
        "Nothing arrived there for five days, so it is not called any more. What happens meanwhile is kept and"
        " delivered once you enable it.",
        "Durante cinco días no llegó nada allí, por eso no se llama más. Lo que ocurra mientras tanto se guarda y se"
        " entrega cuando usted lo active.",
    ),
    "tenant": Text(
        "The company is disabled, so it is not called.", "La empresa está desactivada, por eso no se llama."
    ),
}
