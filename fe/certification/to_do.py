"""Acts of a person where a run of the certification stopped or was refused: in the portal, and at a terminal."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fe.ecf.texts import LocalizedError, Text


class ToDo(StrEnum):
    """A person's act. It is kept with a run that stopped."""

    LOAD = "load"
    PLAN = "plan"
    CHECK = "check"
    GIVE_UP = "give-up"
    NEW_SET = "new-set"
    NEW_PLAN = "new-plan"
    SEE_COUNTER = "see-counter"
    SETTLE_DOUBT = "settle-doubt"
    MEND = "mend"
    GO_ON = "go-on"
    ENABLE = "enable"
    CERTIFICATE = "certificate"
    SUMMARY = "summary"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Act:
    """How an act is done on a page of the portal, and at the command line."""

    page: Text
    command: Text


#: The braces are filled with the number and the submission of the document, the step, and the prefix of a sequence.
ACTS: Mapping[ToDo, Act] = {
    ToDo.LOAD: Act(
        Text("Load the workbook of the DGII's portal.", "Cargue el archivo del portal de la DGII."),
        Text(
            "Load the workbook of the portal: `fe certification load FILE`.",
            "Cargue el archivo del portal: `fe certification load ARCHIVO`.",
        ),
    ),
    ToDo.PLAN: Act(
        Text("Press “Plan” in step 4.", "Presione «Planificar» en el paso 4."),
        Text("Plan it: `fe certification plan`.", "Planifíquela: `fe certification plan`."),
    ),
    ToDo.CHECK: Act(
        Text("Press “Check and send”.", "Presione «Revisar y enviar»."),
        Text(
            "Check and send it: `fe certification send --step {step}`.",
            "Revíselo y envíelo: `fe certification send --step {step}`.",
        ),
    ),
    ToDo.GIVE_UP: Act(
        Text(
            "If the portal's counters are at 0, tick “Give up the present one” and send the form again.",
            "Si los contadores del portal están en 0, marque «Abandonar el actual» y envíe otra vez el formulario.",
        ),
        Text(
            "If the portal's counters are at 0, give the old one up: `--replace`.",
            "Si los contadores del portal están en 0, abandone lo anterior: `--replace`.",
        ),
    ),
    ToDo.NEW_SET: Act(
        Text(
            "Correct the cause, generate a new set in the DGII's portal, tick “Give up the present one” and load it.",
            "Corrija la causa, genere un set nuevo en el portal de la DGII, marque «Abandonar el actual» y cárguelo.",
        ),
        Text(
            "Correct the cause, generate a new set there and load it: `fe certification load FILE --replace`.",
            "Corrija la causa, genere allí un set nuevo y cárguelo: `fe certification load ARCHIVO --replace`.",
        ),
    ),
    ToDo.NEW_PLAN: Act(
        Text(
            "Correct the cause, tick “Give up the present one” and press “Plan”: the numbers are new.",
            "Corrija la causa, marque «Abandonar el actual» y presione «Planificar»: los números serán nuevos.",
        ),
        Text(
            "Correct the cause, and plan it again with new numbers: `fe certification plan --replace`.",
            "Corrija la causa y planifíquela otra vez con números nuevos: `fe certification plan --replace`.",
        ),
    ),
    ToDo.SEE_COUNTER: Act(
        Text(
            "Look whether the DGII's portal counts it. If so, tick “The DGII's portal counts {number}” and press “Go "
            "on”.",
            "Vea si el portal de la DGII lo cuenta. Si es así, marque «El portal de la DGII cuenta {number}» y "
            "presione «Reanudar».",
        ),
        Text(
            "Look whether the portal counts it; if so: `fe certification resume --step {step} --counted {number}`.",
            "Vea si el portal lo cuenta; si es así: `fe certification resume --step {step} --counted {number}`.",
        ),
    ),
    ToDo.SETTLE_DOUBT: Act(
        Text(
            "Look at the counter of the DGII's portal. If it counts it, tick “The DGII's portal counts {number}” and "
            "press “Go on”. If not, ask the operator of this service to replay submission {submission} (page “Dead "
            "letters”), then press “Go on”.",
            "Vea el contador del portal de la DGII. Si lo cuenta, marque «El portal de la DGII cuenta {number}» y "
            "presione «Reanudar». Si no, pida al operador de este servicio que reenvíe {submission} (página «Envíos "
            "detenidos») y luego presione «Reanudar».",
        ),
        Text(
            "Look at the portal's counter. If it counts it: `fe certification resume --step {step} --counted {number}`."
            " If not: `fe outbox replay --id {submission}`, then `fe certification resume --step {step}`.",
            "Vea el contador del portal. Si lo cuenta: `fe certification resume --step {step} --counted {number}`. "
            "Si no: `fe outbox replay --id {submission}` y luego `fe certification resume --step {step}`.",
        ),
    ),
    ToDo.MEND: Act(
        Text("Mend the cause, then press “Go on”.", "Corrija la causa y luego presione «Reanudar»."),
        Text(
            "Mend the cause, then `fe certification resume --step {step}`.",
            "Corrija la causa y luego `fe certification resume --step {step}`.",
        ),
    ),
    ToDo.GO_ON: Act(
        Text("Press “Go on”.", "Presione «Reanudar»."),
        Text("Go on: `fe certification resume --step {step}`.", "Reanude: `fe certification resume --step {step}`."),
    ),
    ToDo.ENABLE: Act(
        Text(
            "Ask the operator of this service to enable it, then press “Go on”.",
            "Pida al operador de este servicio que la active y luego presione «Reanudar».",
        ),
        Text(
            "`fe tenant enable`, then `fe certification resume --step {step}`.",
            "`fe tenant enable` y luego `fe certification resume --step {step}`.",
        ),
    ),
    ToDo.CERTIFICATE: Act(
        Text(
            "Upload a new one on the page “Certificates”, then go on here.",
            "Suba uno nuevo en la página «Certificados» y continúe aquí.",
        ),
        Text(
            "Add a new one (`fe certificate add`), then `fe certification resume --step {step}`.",
            "Agregue uno nuevo (`fe certificate add`) y luego `fe certification resume --step {step}`.",
        ),
    ),
    ToDo.SUMMARY: Act(
        Text(
            "On the page “Company data”, choose that consumer invoices go out as their summary.",
            "En la página «Datos de la empresa», elija que las facturas de consumo se envíen como su resumen.",
        ),
        Text(
            "Set its consumer summary first: `fe tenant update NAME --consumer-summary automatic`.",
            "Ponga antes el resumen en automático: `fe tenant update NOMBRE --consumer-summary automatic`.",
        ),
    ),
    ToDo.RANGE: Act(
        Text(
            "Register a range of each from 1 to 10,000,000 on the page “Sequences” of certification.",
            "Registre un rango de cada uno, de 1 a 10,000,000, en la página «Secuencias» de certificación.",
        ),
        Text(
            "Register a range of each: `fe sequence put {prefix} --environment certecf --to 10000000 --expires ...`.",
            "Registre un rango de cada uno: `fe sequence put {prefix} --environment certecf --to 10000000 --expires "
            "...`.",
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run stopped, and the act that mends it."""

    said: Text
    to_do: ToDo


def with_act(said: Text, act: Text) -> Text:
    """Put an act behind a sentence."""
    return Text(f"{said.en.rstrip('.')}. {act.en}", f"{said.es.rstrip('.')}. {act.es}")


class CannotRun(LocalizedError):
    """A run cannot be loaded, planned or sent now. `text` tells what to do at a terminal, `on_page` in the portal."""

    def __init__(self, said: Text, to_do: ToDo | None = None, **values: object) -> None:
        """Take what is wrong, what mends it, and the values for its braces."""
        act = None if to_do is None else ACTS[to_do]
        super().__init__(said if act is None else with_act(said, act.command.fill(**values)))
        self.on_page = said if act is None else with_act(said, act.page.fill(**values))


def on_page(refused: LocalizedError) -> Text:
    """Return what a page says of a refusal."""
    return refused.on_page if isinstance(refused, CannotRun) else refused.text
