"""Going live: what has to be there before a company issues in production, and what is."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from fe.certification.steps import ADDRESSES, DELEGATION, next_step
from fe.ecf.dates import local
from fe.ecf.texts import Text


@dataclass(frozen=True, slots=True)
class LiveFacts:
    """Facts about a company's production."""

    path: str
    #: Steps that are ticked off.
    done: Collection[int]
    #: When the certificate that signs expires; None: there is none that is valid.
    certificate_until: datetime | None
    #: Types with a sequence that gives numbers.
    sequences: Sequence[str]
    has_key: bool
    has_accepted: bool


@dataclass(frozen=True, slots=True)
class LiveItem:
    """An item of the checklist; `place` is its page below the company's in the portal."""

    code: str
    name: Text
    #: The state, or the next thing to do.
    said: Text
    is_done: bool
    place: str
    #: The step that a person ticks off for it.
    step: int | None = None


def going_live(facts: LiveFacts) -> list[LiveItem]:
    """List what going live takes, in the order in which it is done."""
    following = next_step(facts.path, facts.done)
    until = None if facts.certificate_until is None else local(facts.certificate_until)
    types = ", ".join(facts.sequences)
    is_delegated = DELEGATION.number in facts.done or facts.has_accepted
    return [
        LiveItem(
            "certified",
            Text("Certification", "Certificación"),
            Text("all steps are done", "todos los pasos están hechos")
            if following is None
            else Text(f"next: step {following.number}", f"sigue el paso {following.number}"),
            following is None,
            "certification",
        ),
        LiveItem(
            "certificate",
            Text("Certificate", "Certificado"),
            Text("add a certificate that is valid", "agregue un certificado vigente")
            if until is None
            else Text(f"valid until {until:%Y-%m-%d}", f"vigente hasta el {until:%d-%m-%Y}"),
            until is not None,
            "certificates",
        ),
        LiveItem(
            "delegation",
            DELEGATION.name,
            Text("delegated", "delegado") if is_delegated else DELEGATION.to_do,
            is_delegated,
            "certification",
            DELEGATION.number,
        ),
        LiveItem(
            "addresses",
            Text("Addresses in the directory", "Direcciones en el directorio"),
            Text("entered in step 12", "escritas en el paso 12")
            if ADDRESSES in facts.done
            else Text("enter them in step 12", "escríbalas en el paso 12"),
            ADDRESSES in facts.done,
            "certification",
            ADDRESSES,
        ),
        LiveItem(
            "sequences",
            Text("Sequences of production", "Secuencias de producción"),
            Text(types, types)
            if types
            else Text(
                "request them in the virtual office (about 24 hours), then register them here",
                "solicítelas en la Oficina Virtual (unas 24 horas) y regístrelas aquí",
            ),
            bool(types),
            "ecf/sequences",
        ),
        LiveItem(
            "key",
            Text("API key of production", "Clave de API de producción"),
            Text("there is one", "hay una")
            if facts.has_key
            else Text(
                "create one, if a program issues; people need none",
                "cree una si emite un programa; las personas no la necesitan",
            ),
            facts.has_key,
            "keys",
        ),
        LiveItem(
            "first",
            Text("First receipt accepted", "Primer comprobante aceptado"),
            Text("accepted: the company is live", "aceptado: la empresa emite en producción")
            if facts.has_accepted
            else Text("issue one in production", "emita uno en producción"),
            facts.has_accepted,
            "ecf/new",
        ),
    ]


#: Items without which a company may be live all the same.
_OPTIONAL = frozenset({"key"})


def is_live(items: Sequence[LiveItem]) -> bool:
    """Whether nothing is missing."""
    return all(one.is_done or one.code in _OPTIONAL for one in items)
