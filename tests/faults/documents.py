"""Documents of the clients: small receipts of several types; some bring their number, some draw one."""

import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from fe.ecf.autofill import autofill
from fe.ecf.build import build, to_bytes, write
from fe.ecf.catalogue import EcfType
from fe.ecf.certificate import Credential
from fe.ecf.dates import local, show_day
from fe.ecf.document import read_payload
from fe.ecf.signature import Canonical, Signer
from tests.ecf.receipts import line, payload
from tests.factories.companies import credential_of_today

#: The service's sequences end here; numbers that clients bring begin behind them, so that drawing leaves no gap.
DRAWN_UNTIL = 4_000_000
_OWN_FROM = 5_000_000
_TILLS_FROM = 7_000_000
#: Last number that the authority has granted; the authority alone rejects numbers beyond it.
GRANTED_UNTIL = 9_000_000
#: A sequence so short that a run uses it up.
SHORT_PREFIX, SHORT_UNTIL = EcfType.GOVERNMENTAL.prefix, 15
PREFIXES = tuple(
    one.prefix for one in (EcfType.CREDIT_FISCAL, EcfType.CONSUMER, EcfType.CREDIT_NOTE, EcfType.PURCHASES)
)

EXPIRES = date(2028, 12, 31)


@dataclass(frozen=True)
class Paper:
    """One submission to be made: its kind, for the report, and the body without its clientRequestId."""

    kind: str
    body: Mapping[str, Any]


@dataclass
class Papers:
    """Makes one tenant's papers. The same seed makes the same ones."""

    issuer: Mapping[str, str]
    random: random.Random
    _numbers: dict[str, "itertools.count[int]"] = field(default_factory=dict)

    def next(self) -> Paper:
        """The next one."""
        make = self.random.choices(list(_KINDS), weights=list(_KINDS.values()))[0]
        return make(self)

    def _drawn(self) -> Paper:
        ecf_type = self.random.choice([EcfType.CREDIT_FISCAL, EcfType.CONSUMER, EcfType.CREDIT_NOTE, EcfType.PURCHASES])
        return self._structured(f"{ecf_type.value} drawn", self._draft(ecf_type, None))

    def _from_the_short_sequence(self) -> Paper:
        return self._structured("45 drawn, few", self._draft(EcfType.GOVERNMENTAL, None))

    def _own(self) -> Paper:
        ecf_type = self.random.choice([EcfType.CREDIT_FISCAL, EcfType.CONSUMER, EcfType.CREDIT_NOTE, EcfType.PURCHASES])
        return self._structured(f"{ecf_type.value}", self._draft(ecf_type, self._number(ecf_type)))

    def _xml(self) -> Paper:
        ecf_type = self.random.choice([EcfType.CREDIT_FISCAL, EcfType.CONSUMER])
        draft = self._draft(ecf_type, self._number(ecf_type))
        full = autofill(read_payload(draft), issuer=self.issuer, expiry=EXPIRES, now=datetime.now(UTC))
        return Paper(f"{ecf_type.value} XML", {"format": "xml", "xml": to_bytes(build(full)).decode()})

    def _till(self) -> Paper:
        """A receipt that an agent signed while its line was down: its clock is hours or days back."""
        signed_at = datetime.now(UTC) - timedelta(hours=self.random.choice([1, 30, 66, 75]))
        draft = self._draft(EcfType.CREDIT_FISCAL, _TILLS_FROM + self._next("tills"))
        draft["Encabezado"]["Emisor"]["FechaEmision"] = show_day(local(signed_at).date())
        full = autofill(read_payload(draft), issuer=self.issuer, expiry=EXPIRES, now=signed_at)
        signed = Signer(till_credential()).sign_canonical(Canonical.of(write(full).element))
        return Paper("31 of a till", {"format": "xml", "xml": signed.xml.decode(), "keepSignature": True})

    def _deferred(self) -> Paper:
        """A receipt with IndicadorEnvioDiferido: it is refused while no authorisation is in force."""
        draft = self._draft(EcfType.CREDIT_FISCAL, self._number(EcfType.CREDIT_FISCAL))
        draft["Encabezado"]["IdDoc"]["IndicadorEnvioDiferido"] = "1"
        return self._structured("31 deferred", draft)

    def on_paper(self) -> dict[str, Any]:
        """The content of a paper receipt, without what its e-CF gets when it is issued."""
        draft = self._draft(EcfType.CREDIT_FISCAL, None)
        for section, names in (("IdDoc", ("FechaVencimientoSecuencia",)), ("Emisor", ("FechaEmision",))):
            for name in names:
                draft["Encabezado"][section].pop(name, None)
        return draft

    def _beyond(self) -> Paper:
        number = GRANTED_UNTIL + self._next("beyond")
        return self._structured("31 not granted", self._draft(EcfType.CREDIT_FISCAL, number))

    def _broken(self) -> Paper:
        draft = self._draft(EcfType.CREDIT_FISCAL, self._number(EcfType.CREDIT_FISCAL))
        draft["Encabezado"]["IdDoc"]["TipoIngresos"] = "99"
        return self._structured("31 broken", draft)

    def _approval(self) -> Paper:
        """A buyer's commercial approval of a supplier's receipt."""
        said = {
            "Version": "1.0",
            "RNCEmisor": "131880657",
            "eNCF": f"E31{_OWN_FROM + self._next('approvals'):010d}",
            "FechaEmision": _today(),
            "MontoTotal": "118.00",
            "RNCComprador": self.issuer["RNCEmisor"],
            "Estado": "1",
        }
        return self._structured("ACECF", {"ACECF": {"DetalleAprobacionComercial": said}})

    def _draft(self, ecf_type: EcfType, number: int | None) -> dict[str, Any]:
        lines = [
            line(price=f"{self.random.randrange(1, 90_000) / 100:.2f}", quantity=f"{self.random.randrange(1, 9)}.00")
            for _ in range(self.random.randrange(1, 4))
        ]
        draft = payload(ecf_type, lines, issued=_today())
        id_doc = draft["Encabezado"]["IdDoc"]
        if number is None:
            del id_doc["eNCF"]
            id_doc["TipoeCF"] = ecf_type.value
        else:
            id_doc["eNCF"] = f"{ecf_type.prefix}{number:010d}"
        if "InformacionReferencia" in draft:
            # A number that no document bears: the authority does not know it, and accepts the reference.
            draft["InformacionReferencia"]["NCFModificado"] = f"E31{DRAWN_UNTIL + 7:010d}"
        return draft

    def _structured(self, kind: str, content: dict[str, Any]) -> Paper:
        return Paper(kind, {"format": "structured", "payload": content})

    def _number(self, ecf_type: EcfType) -> int:
        return _OWN_FROM + self._next(ecf_type.prefix)

    def _next(self, series: str) -> int:
        return next(self._numbers.setdefault(series, itertools.count(1)))


@cache
def till_credential() -> Credential:
    """The certificate of all tills of a run."""
    return credential_of_today()


#: How often which kind.
_KINDS: dict[Callable[[Papers], Paper], int] = {
    Papers._drawn: 40,
    Papers._own: 25,
    Papers._xml: 15,
    Papers._approval: 6,
    Papers._from_the_short_sequence: 4,
    Papers._till: 5,
    Papers._deferred: 6,
    Papers._beyond: 5,
    Papers._broken: 5,
}


def _today() -> str:
    return show_day(local(datetime.now(UTC)).date())
