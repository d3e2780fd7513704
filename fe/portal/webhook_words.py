"""Names of webhook events, states and failures (webhook_words.toml)."""

import msgspec

from fe.ecf.data_files import toml_file
from fe.ecf.texts import Text
from fe.lifecycle import WebhookEvent
from fe.store.webhooks.deliveries import DeliveryState
from fe.store.webhooks.recoveries import RecoveryState


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    events: dict[WebhookEvent, Text]
    errors: dict[str, Text]
    disabled: dict[str, Text]


_READ = toml_file("portal/webhook_words.toml", _Words)
EVENTS, ERRORS, DISABLED = _READ.events, _READ.errors, _READ.disabled

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
