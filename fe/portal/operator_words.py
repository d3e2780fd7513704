"""Words of operators' pages for stages, actions, hosts and stopped replays, which the database names in English."""

import re

from fe.ecf.texts import Text
from fe.lifecycle import Stage

STAGES = {
    Stage.SIGN: Text("signing", "firma"),
    Stage.SEND: Text("sending", "envío a la DGII"),
    Stage.TRACK: Text("verdict", "respuesta de la DGII"),
    Stage.RECONCILE: Text("reconciliation", "confirmación con la DGII"),
}

ACTIONS = {
    "archive detach": "sacar un mes de la base de datos",
    "archive restore": "devolver un mes a la base de datos",
    "billing charges": "cobros",
    "billing disable": "dejar de cobrar",
    "billing enable": "condiciones de cobro",
    "billing price": "precio",
    "billing retry": "repetir cobro",
    "certificate add": "agregar certificado",
    "delegation record": "registrar delegación",
    "delegation withdraw": "retirar delegación",
    "discard": "descartar comprobante",
    "key create": "crear clave de API",
    "key revoke": "revocar clave de API",
    "lockout lift": "levantar bloqueo",
    "operator key create": "crear clave de operador",
    "operator key revoke": "revocar clave de operador",
    "owner invite": "invitar administrador",
    "owner withdraw": "retirar invitación de administrador",
    "pause": "poner en pausa",
    "plan": "planificar reenvío",
    "plan go on": "continuar reenvío",
    "plan stop": "detener reenvío",
    "replay": "reenviar comprobante",
    "resume": "reanudar",
    "sequence put": "configurar secuencia",
    "tenant create": "crear empresa",
    "tenant disable": "desactivar empresa",
    "tenant enable": "activar empresa",
    "tenant erase": "borrar comprobantes de la empresa",
}


#: Why the service stopped a replay (fe/operations/replay.py). A person's reason is shown as it was written.
_CANARY_SILENT = re.compile(r"the canary has no verdict after (\S+) s: `fe outbox why` says why")
_ROWS_FAIL = re.compile(
    r"(a canary|a released row) (failed again|fails): (.*?)(?:, and ([0-9]+) more in trouble)?", re.DOTALL
)
_WHO = {"a canary": "un envío de prueba", "a released row": "un comprobante reenviado"}
_WHAT = {"failed again": "falló de nuevo", "fails": "está fallando"}


def halt_words(because: str) -> Text:
    """Say why a replay stopped; an error in it stays in English."""
    if silent := _CANARY_SILENT.fullmatch(because):
        spanish = f"el envío de prueba no tiene respuesta de la DGII tras {silent[1]} s: `fe outbox why` dice por qué"
        return Text(because, spanish)
    if fails := _ROWS_FAIL.fullmatch(because):
        more = f", y {fails[4]} más con problemas" if fails[4] else ""
        return Text(because, f"{_WHO[fails[1]]} {_WHAT[fails[2]]}: {fails[3]}{more}")
    return Text(because, because)


def stage_name(stage: str) -> Text:
    """Say the name of a stage; a stage of other work has its own."""
    return STAGES[Stage(stage)] if stage in list(Stage) else Text(stage, stage)


def action_words(action: str) -> Text:
    """Name an operator's action."""
    return Text(action, ACTIONS.get(action, action))
