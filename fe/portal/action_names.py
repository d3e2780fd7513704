"""Names of audited changes and of their fields, in both languages.

A module that records a new kind of change adds its words here; without them people read the English name.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fe.ecf.dates import ZONE
from fe.ecf.field_help import FIELD_HELP
from fe.ecf.texts import Text

_ACTIONS = {
    "company created": "empresa creada",
    "company changed": "datos de la empresa cambiados",
    "company disabled": "empresa desactivada",
    "company enabled": "empresa activada",
    "user created": "usuario creado",
    "user changed": "usuario cambiado",
    "user removed": "usuario eliminado",
    "person invited": "persona invitada",
    "invitation withdrawn": "invitación retirada",
    "person joined": "persona incorporada",
    "role changed": "función cambiada",
    "person removed": "persona quitada",
    "certificate added": "certificado agregado",
    "certificate retired": "certificado retirado",
    "certificate key destroyed": "clave de certificado destruida",
    "key created": "clave de API creada",
    "key revoked": "clave de API revocada",
    "sequence set": "secuencia configurada",
    "sequence deleted": "secuencia eliminada",
    "receipt issued": "comprobante emitido",
    "webhook set": "webhook configurado",
    "webhook enabled": "webhook activado",
    "webhook disabled": "webhook apagado",
    "webhook secret shown": "secreto del webhook visto",
    "webhook secret rotated": "secreto del webhook cambiado",
    "webhook recovery asked": "entrega repetida pedida",
    "received decided": "documento recibido aprobado o rechazado",
}

_FIELDS = {
    "name": Text("name", "nombre"),
    "email": Text("e-mail address", "correo electrónico"),
    "user": Text("user", "usuario"),
    "reason": Text("reason", "motivo"),
    "role": Text("role", "función"),
    "invited": Text("invited as", "se invitó a"),
    "consumerSummary": Text("consumer summaries", "resúmenes de consumo"),
    "certificateId": Text("certificate", "certificado"),
    "holder": Text("holder", "titular"),
    "holderId": Text("identity of the holder", "identificación del titular"),
    "notBefore": Text("valid from", "válido desde"),
    "notAfter": Text("valid until", "válido hasta"),
    "environment": Text("environment", "ambiente"),
    "scopes": Text("scopes", "permisos"),
    "expiresAt": Text("valid until", "vence"),
    "minSequence": Text("first number", "primer número"),
    "maxSequence": Text("last number", "último número"),
    "currentSequence": Text("next number", "próximo número"),
    "isActive": Text("the sequence is used", "se usa la secuencia"),
    "expireOn": Text("last day", "último día"),
    "pausedAt": Text("paused since", "en pausa desde"),
    "url": Text("address", "dirección"),
    "enabled": Text("enabled", "activado"),
    "events": Text("events", "eventos"),
    "headers": Text("names of headers", "nombres de cabeceras"),
    "since": Text("since", "desde"),
    "oldSecretUntil": Text("the old secret signs until", "el secreto anterior firma hasta"),
}
#: As records write moments.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").fullmatch
_YES, _NO = Text("yes", "sí"), Text("no", "no")

Shown = Mapping[str, Any]


def action_name(action: str) -> Text:
    """Name a kind of change."""
    return Text(action, _ACTIONS.get(action, action))


def field_name(name: str) -> Text:
    """Say which field it is; those of the format keep their names."""
    return _FIELDS.get(name, Text(name, name))


def readable(value: Any) -> Text | str:
    """Write a value so that a person can read it."""
    match value:
        case None:
            return ""
        case bool():
            return _YES if value else _NO
        case list():
            return ", ".join(str(readable(each)) for each in value)
        case dict() if len(value) == 1 and next(iter(value)) in FIELD_HELP:
            return readable(next(iter(value.values())))
        case dict():
            return json.dumps(value, ensure_ascii=False)
    text = str(value)
    return datetime.fromisoformat(text).astimezone(ZONE).strftime("%d-%m-%Y %H:%M") if _MOMENT(text) else text


def difference(before: Shown | None, after: Shown | None) -> list[tuple[Text, Text | str, Text | str]]:
    """List each changed field with its name, old and new value."""
    old, new = before or {}, after or {}
    names = [*old, *(name for name in new if name not in old)]
    return [(field_name(name), readable(old.get(name)), readable(new.get(name))) for name in names]
