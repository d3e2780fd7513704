"""The checks of a receiver's addresses before the authority's own (steps 7 to 11): what each is, and what to do."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fe.ecf.texts import LocalizedError, Text

#: Addresses of production as the service serves them (`/ecf/{rnc}`).
_PRODUCTION = re.compile(r"/ecf/(?:[0-9]{9}|[0-9]{11})(?:/|$)", re.IGNORECASE | re.ASCII)
#: The path that the authority appends to an address of its portal.
_SUFFIX = re.compile(r"/fe/.*", re.IGNORECASE | re.ASCII)


class CheckState(StrEnum):
    """Result of a check. The authority's own test fails where a check is FAILED."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class AddressCheck:
    """A check that was made at an address."""

    name: str
    address: str
    state: CheckState
    says: Text

    @property
    def step(self) -> int:
        """The step of the certification that would fail."""
        return CHECKS[self.name].step

    @property
    def title(self) -> Text:
        """Name of the check for people."""
        return CHECKS[self.name].title

    @property
    def to_do(self) -> Text | None:
        """The remedy; None if nothing is wrong."""
        return CHECKS[self.name].to_do if self.state in (CheckState.FAILED, CheckState.WARNING) else None


@dataclass(frozen=True, slots=True)
class CheckKind:
    """A check, the step in which the authority makes it, and what to do where it fails."""

    step: int
    title: Text
    to_do: Text


class CannotCheck(LocalizedError):
    """The addresses are not checked, and why."""


@dataclass(frozen=True, slots=True)
class EnteredAddresses:
    """The addresses as a person enters them in the authority's portal, where `authentication` may be left out."""

    reception: str
    approval: str
    authentication: str | None = None


def base_of(entered: str) -> str:
    """Return the base of an address that was entered. Raises CannotCheck for one of production."""
    base = entered.strip()
    base = _SUFFIX.sub("", base if "://" in base else f"https://{base}").rstrip("/")
    if _PRODUCTION.search(base):
        raise CannotCheck(
            Text(
                f"{base} is an address of production: check that of certecf or testecf",
                f"{base} es una dirección de producción: revise la de certecf o testecf",
            )
        )
    return base


def has_suffix(entered: str) -> bool:
    """Whether the path that the authority appends was entered, too."""
    return _SUFFIX.search(entered) is not None


_SIGNATURE = Text(
    "Verify the signature over the bytes as they came, before anything is taken from the document.",
    "Valide la firma sobre los bytes tal como llegaron, antes de tomar nada del documento.",
)
_ACKNOWLEDGE = Text(
    "Answer every readable e-CF with 200 and a signed ARECF; 1 with the reason where it is not received.",
    "Responda todo e-CF legible con 200 y un ARECF firmado; 1 con el motivo si no lo recibe.",
)
_TOKEN = Text(
    "Where an authentication address is declared, answer 401 to a call without a valid token.",
    "Si declara dirección de autenticación, responda 401 a toda llamada sin un token válido.",
)
_LETTERS = Text(
    "Serve the paths /fe/... in upper and lower case alike.",
    "Atienda las rutas /fe/... sin distinguir mayúsculas y minúsculas.",
)
_NO_FILE = Text(
    "Answer 400 to a call without a part named xml.",
    "Responda 400 a una llamada sin la parte llamada xml.",
)
_REFUSE = Text("Answer 400 to an approval that is not valid.", "Responda 400 a una aprobación que no es válida.")

#: In the order in which they are made.
CHECKS: Mapping[str, CheckKind] = {
    "address": CheckKind(
        7,
        Text("Address as it is entered", "Dirección como se escribe"),
        Text(
            "Enter host and path alone, at port 443: e.example.do/certecf/131000000. The authority appends /fe/... .",
            "Escriba solo host y ruta, en el puerto 443: e.example.do/certecf/131000000. La DGII agrega /fe/... .",
        ),
    ),
    "host": CheckKind(
        7,
        Text("Name in the public internet", "Nombre en la internet pública"),
        Text(
            "Let the name lead to public addresses only, also in this network's name server; or check from outside.",
            "Haga que el nombre lleve solo a direcciones públicas, también en el DNS de aquí; o revise desde fuera.",
        ),
    ),
    "tls": CheckKind(
        7,
        Text("TLS certificate", "Certificado TLS"),
        Text(
            "Serve a certificate of a public certifier for this name, with those between, and renew it in time.",
            "Sirva un certificado de una entidad pública para este nombre, con los intermedios, y renuévelo a tiempo.",
        ),
    ),
    "seed": CheckKind(
        8,
        Text("Seed", "Semilla"),
        Text(
            "Answer the GET with 200 and a SemillaModel of valor and fecha, with another valor each time.",
            "Responda el GET con 200 y un SemillaModel con valor y fecha, con otro valor cada vez.",
        ),
    ),
    "token": CheckKind(
        8,
        Text("Token for a signed seed", "Token por una semilla firmada"),
        Text(
            "Verify the signed seed in the part xml, trust the authority's root, answer token, expira and expedido.",
            "Valide la semilla firmada de la parte xml, confíe en la raíz de la DGII; dé token, expira y expedido.",
        ),
    ),
    "seed-bad-signature": CheckKind(8, Text("Seed with a bad signature", "Semilla con firma inválida"), _SIGNATURE),
    "seed-foreign": CheckKind(
        8,
        Text("Seed of somebody else", "Semilla ajena"),
        Text(
            "Accept only seeds that you gave out, within minutes.",
            "Acepte solo semillas que usted entregó, dentro de unos minutos.",
        ),
    ),
    "receipt-without-token": CheckKind(9, Text("e-CF without a token", "e-CF sin token"), _TOKEN),
    "receipt-good": CheckKind(
        9,
        Text("Good e-CF", "e-CF correcto"),
        Text(
            "Answer 200 with an ARECF of Estado 0, signed by this company, with the e-CF's numbers and local time.",
            "Responda 200 con un ARECF de Estado 0 firmado por la empresa, con los números del e-CF y hora local.",
        ),
    ),
    "receipt-duplicate": CheckKind(
        9, Text("Another e-CF of the same number", "Otro e-CF del mismo número"), _ACKNOWLEDGE
    ),
    "receipt-bad-format": CheckKind(9, Text("e-CF with a bad structure", "e-CF con estructura inválida"), _ACKNOWLEDGE),
    "receipt-bad-signature": CheckKind(9, Text("e-CF with a bad signature", "e-CF con firma inválida"), _SIGNATURE),
    "receipt-other-buyer": CheckKind(9, Text("e-CF for another buyer", "e-CF de otro comprador"), _ACKNOWLEDGE),
    "receipt-consumer": CheckKind(
        9, Text("e-CF of a type that is not received (32)", "e-CF de un tipo que no se recibe (32)"), _ACKNOWLEDGE
    ),
    "receipt-letter-case": CheckKind(9, Text("Reception in other letter case", "Recepción en otras letras"), _LETTERS),
    "receipt-form": CheckKind(
        9,
        Text("e-CF in the authority's form", "e-CF en el formulario de la DGII"),
        Text(
            "Accept a form part whose name is written without quotes, with filename*, and without a Content-Type.",
            "Acepte una parte cuyo nombre va sin comillas, con filename* y sin Content-Type.",
        ),
    ),
    "receipt-absent": CheckKind(9, Text("Call without an e-CF", "Llamada sin e-CF"), _NO_FILE),
    "approval-without-token": CheckKind(11, Text("Approval without a token", "Aprobación sin token"), _TOKEN),
    "approval-good": CheckKind(
        11,
        Text("Good approval", "Aprobación correcta"),
        Text(
            "Answer 200 to an approval of a receipt that this company issued to that buyer.",
            "Responda 200 a una aprobación de un comprobante que esta empresa emitió a ese comprador.",
        ),
    ),
    "approval-bad-format": CheckKind(
        11, Text("Approval with a bad structure", "Aprobación con estructura inválida"), _REFUSE
    ),
    "approval-bad-signature": CheckKind(
        11, Text("Approval with a bad signature", "Aprobación con firma inválida"), _SIGNATURE
    ),
    "approval-other-issuer": CheckKind(11, Text("Approval for another issuer", "Aprobación para otro emisor"), _REFUSE),
    "approval-letter-case": CheckKind(
        11, Text("Approval in other letter case", "Aprobación en otras letras"), _LETTERS
    ),
    "approval-absent": CheckKind(11, Text("Call without an approval", "Llamada sin aprobación"), _NO_FILE),
}
