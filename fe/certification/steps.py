"""The steps of the certification on both paths, each with what a person does in plain words."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from fe.ecf.texts import Text


@dataclass(frozen=True, slots=True)
class CertificationStep:
    """A step of the authority's process; its number is that of the portal of the certification."""

    number: int
    name: Text
    to_do: Text
    #: Steps that the path under a certified provider has, too.
    is_short: bool = False


STEPS: tuple[CertificationStep, ...] = (
    CertificationStep(
        1,
        Text("Application", "Postulación"),
        Text(
            "Fill in the form in the portal, download its XML, sign it (`fe certification sign`) and upload it.",
            "Llene el formulario en el portal, descargue su XML, fírmelo (`fe certification sign`) y súbalo.",
        ),
        is_short=True,
    ),
    CertificationStep(
        2,
        Text("Set of tests", "Pruebas de datos"),
        Text(
            "Download the set, load it, check it and send it; then upload the full invoices of the evidence by hand.",
            "Descargue el set, cárguelo, revíselo y envíelo; luego suba a mano las facturas completas de la evidencia.",
        ),
    ),
    CertificationStep(
        3,
        Text("Set of commercial approvals", "Pruebas de datos, aprobación comercial"),
        Text(
            "Download the second workbook and send its approvals.",
            "Descargue el segundo archivo y envíe sus aprobaciones.",
        ),
    ),
    CertificationStep(
        4,
        Text("Simulation", "Simulación"),
        Text(
            "Issue receipts of your own in the counts that the portal shows. A rejection resets all counters.",
            "Emita comprobantes propios en las cantidades que muestra el portal. Un rechazo reinicia los contadores.",
        ),
        is_short=True,
    ),
    CertificationStep(
        5,
        Text("Printed receipts", "Representación impresa"),
        Text(
            "Upload the PDFs of receipts of the simulation that were accepted, at most 10 MB together.",
            "Suba los PDF de comprobantes de la simulación que fueron aceptados, hasta 10 MB en total.",
        ),
        is_short=True,
    ),
    CertificationStep(
        6,
        Text("Review of the printed receipts", "Validación de la representación impresa"),
        Text(
            "Wait for the authority; correct in step 5 what it returns.",
            "Espere a la DGII; corrija en el paso 5 lo que devuelva.",
        ),
        is_short=True,
    ),
    CertificationStep(
        7,
        Text("Addresses for tests", "URL de servicios de prueba"),
        Text(
            "Enter the addresses of reception, approval and authentication, without https:// and without /fe/...",
            "Escriba las direcciones de recepción, aprobación y autenticación, sin https:// y sin /fe/...",
        ),
    ),
    CertificationStep(
        8,
        Text("Start of the reception test", "Inicio de la prueba de recepción"),
        Text(
            "Download the root certificate, and press “ENVIAR PRUEBA DE COMPROBANTES”.",
            "Descargue el certificado raíz y presione «ENVIAR PRUEBA DE COMPROBANTES».",
        ),
    ),
    CertificationStep(
        9,
        Text("Reception of e-CF", "Recepción de e-CF"),
        Text(
            "Wait until the portal shows an acknowledgement for each e-CF.",
            "Espere a que el portal muestre un acuse de recibo por cada e-CF.",
        ),
    ),
    CertificationStep(
        10,
        Text("Start of the approval test", "Inicio de la prueba de recepción de aprobación"),
        Text("Press the button of the portal.", "Presione el botón del portal."),
    ),
    CertificationStep(
        11,
        Text("Reception of approvals", "Recepción de aprobación comercial"),
        Text("Wait until the portal shows them as answered.", "Espere a que el portal las muestre respondidas."),
    ),
    CertificationStep(
        12,
        Text("Addresses of production", "URL de servicios de producción"),
        Text(
            "Enter the addresses that other taxpayers will call.",
            "Escriba las direcciones a las que llamarán los demás contribuyentes.",
        ),
        is_short=True,
    ),
    CertificationStep(
        13,
        Text("Declaration", "Declaración jurada"),
        Text(
            "Download the declaration's XML, sign it (`fe certification sign`) and upload it.",
            "Descargue el XML de la declaración, fírmelo (`fe certification sign`) y súbalo.",
        ),
        is_short=True,
    ),
    CertificationStep(
        14,
        Text("Verification of the status", "Verificación de estatus"),
        Text(
            "Wait for the authority: RNC up to date, virtual office, Alta NCF, representative.",
            "Espere a la DGII: RNC al día, oficina virtual, Alta NCF, representante.",
        ),
        is_short=True,
    ),
)
BY_NUMBER: Mapping[int, CertificationStep] = {step.number: step for step in STEPS}
#: The step of the set of tests, which is done when all of it is accepted and uploaded.
TEST_SET = 2


def steps_of(path: str) -> tuple[CertificationStep, ...]:
    """Return the steps of a path: `own`, or `provider`."""
    return tuple(step for step in STEPS if path == "own" or step.is_short)


def next_step(path: str, done: Collection[int]) -> CertificationStep | None:
    """Return the first step that is not done; None when all are."""
    return next((step for step in steps_of(path) if step.number not in done), None)
