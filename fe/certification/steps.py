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
    #: Values that a person enters in the authority's portal, and where.
    enter: tuple[Text, ...] = ()
    #: The command that does its part.
    command: str = ""
    #: Steps that the path under a certified provider has, too.
    is_short: bool = False

    @property
    def with_command(self) -> str:
        """The work of the step, for an operator at a terminal."""
        return f"{self.to_do.en} Command: `{self.command}`." if self.command else self.to_do.en


_ADDRESSES = Text(
    "Write each address without https:// and without its end: reception (/fe/recepcion/api/ecf), approval "
    "(/fe/aprobacioncomercial/api/ecf), authentication (/fe/autenticacion/api/...). Authentication is optional.",
    "Escriba cada dirección sin https:// y sin su final: recepción (/fe/recepcion/api/ecf), aprobación "
    "(/fe/aprobacioncomercial/api/ecf), autenticación (/fe/autenticacion/api/...). La de autenticación es opcional.",
)

STEPS: tuple[CertificationStep, ...] = (
    CertificationStep(
        1,
        Text("Application", "Postulación"),
        Text(
            "Fill in the form of the portal, download its XML, sign it here and upload it.",
            "Llene el formulario del portal, descargue su XML, fírmelo aquí y súbalo.",
        ),
        (
            Text(
                "First, in the virtual office: file the form FI-GDF-016. The answer in its mailbox opens the portal.",
                "Antes, en la Oficina Virtual: presente el FI-GDF-016. La respuesta, en su buzón, abre el portal.",
            ),
            Text(
                "In the form: types of receipts, name and version of the software, its provider's RNC and names.",
                "En el formulario: tipos de comprobantes, nombre y versión del software, RNC y nombres del proveedor.",
            ),
            _ADDRESSES,
            Text(
                "The signer is the registered representative, with the role “Usuario Administrador e-CF”.",
                "Firma el representante registrado, que es «Usuario Administrador e-CF».",
            ),
        ),
        "fe certification sign",
        is_short=True,
    ),
    CertificationStep(
        2,
        Text("Set of tests", "Pruebas de datos"),
        Text(
            "Download the set, load it, check it and send it; then upload the full invoices of the evidence by hand.",
            "Descargue el set, cárguelo, revíselo y envíelo; luego suba a mano las facturas completas de la evidencia.",
        ),
        (
            Text(
                "Download the workbook and do not open it. Do not press anything that generates a new set meanwhile.",
                "Descargue el archivo y no lo abra. Mientras tanto no presione nada que genere un set nuevo.",
            ),
            Text(
                "The portal counts late: wait until it shows 21 of 21 and 4 of 4 before you upload the 4 invoices.",
                "El portal cuenta con retraso: espere a ver 21 de 21 y 4 de 4 antes de subir las 4 facturas.",
            ),
        ),
        "fe certification load",
    ),
    CertificationStep(
        3,
        Text("Set of commercial approvals", "Pruebas de datos, aprobación comercial"),
        Text(
            "Download the second workbook, load it, check it and send its approvals.",
            "Descargue el segundo archivo, cárguelo, revíselo y envíe sus aprobaciones.",
        ),
        (
            Text(
                "The workbook has one sheet with 11 approvals. The counter reads 11 of 11 when all arrived.",
                "El archivo tiene una hoja con 11 aprobaciones. El contador dice 11 de 11 cuando todas llegaron.",
            ),
        ),
        command="fe certification load",
    ),
    CertificationStep(
        4,
        Text("Simulation", "Simulación"),
        Text(
            "Plan receipts of your own, check them and send them. A rejection resets all counters.",
            "Planifique comprobantes propios, revíselos y envíelos. Un rechazo reinicia los contadores.",
        ),
        (
            Text(
                "The counters lag some minutes: do not send again what they do not show yet.",
                "Los contadores tardan unos minutos: no reenvíe lo que todavía no muestran.",
            ),
            Text(
                "Upload the full invoices below 250,000 by hand, with the bytes of the evidence.",
                "Suba a mano las facturas completas menores de 250,000, con los archivos de la evidencia.",
            ),
        ),
        command="fe certification plan",
        is_short=True,
    ),
    CertificationStep(
        5,
        Text("Printed receipts", "Representación impresa"),
        Text(
            "Upload the PDFs of receipts of the simulation that were accepted, at most 10 MB together.",
            "Suba los PDF de comprobantes de la simulación que fueron aceptados, hasta 10 MB en total.",
        ),
        command="fe certification pdfs",
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
            "Try the addresses of this service here, then enter them.",
            "Pruebe aquí las direcciones de este servicio y luego escríbalas.",
        ),
        (_ADDRESSES,),
        command="fe certification addresses",
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
        (
            _ADDRESSES,
            Text(
                "Under a provider these are the provider's addresses.",
                "Bajo un proveedor, son las direcciones del proveedor.",
            ),
        ),
        is_short=True,
    ),
    CertificationStep(
        13,
        Text("Declaration", "Declaración jurada"),
        Text(
            "Download the declaration's XML, sign it here and upload it.",
            "Descargue el XML de la declaración, fírmelo aquí y súbalo.",
        ),
        command="fe certification sign",
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
#: Not a step of the certification: who signs is delegated in the virtual office afterwards.
DELEGATION = CertificationStep(
    15,
    Text("Delegation of the signer", "Delegación del firmante"),
    Text(
        "Delegate whoever signs in production, in the virtual office.",
        "Delegue en la Oficina Virtual a quien firma en producción.",
    ),
    (
        Text(
            "Menu Facturación Electrónica, Delegación: the holder of the certificate that signs here.",
            "Menú Facturación Electrónica, Delegación: el titular del certificado con que se firma aquí.",
        ),
    ),
)
BY_NUMBER: Mapping[int, CertificationStep] = {step.number: step for step in (*STEPS, DELEGATION)}
#: The step whose addresses the authority then tries, up to step 11.
ENTERED = 7
#: The step after which other taxpayers reach the company.
ADDRESSES = 12
#: Steps with a file of the portal that is signed here.
SIGNED = (1, 13)


def steps_of(path: str) -> tuple[CertificationStep, ...]:
    """Return the steps of a path: `own`, or `provider`."""
    return tuple(step for step in STEPS if path == "own" or step.is_short)


def next_step(path: str, done: Collection[int]) -> CertificationStep | None:
    """Return the first step that is not done; None when all are."""
    return next((step for step in steps_of(path) if step.number not in done), None)
