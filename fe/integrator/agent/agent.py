"""An agent of one folder: its store, till and deliverer together, and what it reports of itself."""

import shutil
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256

from fe.clock import Clock, boot_seconds, system_clock
from fe.ecf.certificate import Credential, open_p12
from fe.ecf.dates import show_moment
from fe.ecf.texts import Text
from fe.integrator import profiles
from fe.integrator.agent import refusals
from fe.integrator.agent.delivery import Courier
from fe.integrator.agent.paper import print_receipt, settings_of
from fe.integrator.agent.refusals import SaleRefused
from fe.integrator.agent.store import Sale, Store, place_of
from fe.integrator.agent.till import Till, Watch
from fe.integrator.agent.token import open_token
from fe.integrator.api import ApiSession
from fe.integrator.language import terminal_language

#: Hours after a signature: from when it is a warning, and when the time is over.
WARN_HOURS, LAST_HOURS = 12, 72
#: Signatures that are further ahead are named.
_AHEAD = timedelta(minutes=1)
_LOW_DISK = 200 * 2**20
#: Receipts that ended badly, and refused ones, that are named.
_NAMED = 10
#: Rejected receipts are named until this long after their signature.
_SHOWN = timedelta(days=7)


class Agent:
    """Opened on a folder; `close` at its end."""

    def __init__(
        self, folder: Path, *, clock: Clock = system_clock, steady: Callable[[], float] = boot_seconds
    ) -> None:
        """Open the folder. Raises SaleRefused for one that was copied, is in use, damaged, or never made."""
        self.folder = folder
        self.clock = clock
        self.store = Store(folder)
        try:
            self.facts = self.store.fact("settings") or {}
            if not self.facts or self.store.fact("lease") is None:
                raise SaleRefused(503, refusals.NO_LEASE)
            if self.store.fact("place") != place_of(folder):
                raise SaleRefused(409, refusals.COPIED)
            credential = credential_of(self.facts)
            profile = profiles.load(self.facts["profile"])
        except BaseException:  # whatever it was, the next try may open the store
            self.store.close()
            raise
        self.watch = Watch(clock, steady)
        self.till = Till(self.store, self.watch, credential)
        self.api = ApiSession(
            profile, language=terminal_language(), patience=0.0, token=profiles.load_token(profile), clock=clock
        )
        self.deliverer = Courier(self.store, self.api, self.watch, certificate_of(credential), clock)

    def close(self) -> None:
        """Close the store and the connection."""
        self.api.__exit__()
        self.store.close()

    def issue(self, body: dict[str, Any]) -> tuple[Sale, bool]:
        """Issue a receipt (`Till.issue`), and have it delivered."""
        issued = self.till.issue(body)
        self.deliverer.woken.set()
        return issued

    def print(self, receipt: Sale, kind: str, *, raster: bool = False) -> bytes:
        """Print a receipt as `pdf` or `ticket`."""
        return print_receipt(
            receipt,
            kind,
            settings_of(self.store.fact("printing")),
            self.store.fact("lease")["environment"],
            is_online=self.deliverer.is_online,
            hosts_down=self.deliverer.hosts_down,
            raster=raster,
        )

    def shown(self, receipt: Sale) -> dict[str, Any]:
        """Show a receipt as the service would, with the fields that it has then."""
        shown = {
            "taxLogId": receipt.tax_log_id,
            "environment": self.store.fact("lease")["environment"],
            "eNCF": receipt.e_ncf,
            "status": receipt.status,
            "securityCode": receipt.security_code,
            "qrCodeUrl": receipt.qr_url,
            "fechaHoraFirma": receipt.signed_at if receipt.is_signed else None,
            "clientRequestId": receipt.request_id,
            "agentState": receipt.state,
            "response": (receipt.answer or {}).get("response"),
            "message": (receipt.answer or {}).get("message"),
        }
        return {name: value for name, value in shown.items() if value is not None}

    def flags(self) -> list[Text]:
        """Name everything that a person should see to, in both languages, with what to do."""
        found = self.till.flags()
        if not self.deliverer.is_online:
            found.append(refusals.AWAY if self.till.credential is not None else refusals.AWAY_UNSIGNED)
        elif self.deliverer.hosts_down:
            found.append(refusals.AUTHORITY_AWAY)
        for one in self.store.in_state("waiting", 1):
            hours = int((self.clock() - datetime.fromisoformat(one.signed_at)).total_seconds() // 3600)
            if hours >= WARN_HOURS:
                late = refusals.LATE if hours < LAST_HOURS else refusals.TOO_LATE
                found.append(late.fill(e_ncf=one.e_ncf, hours=hours))
        ahead = self.watch.service_now() + _AHEAD
        for one in self.store.in_state("waiting", _NAMED, since=ahead.isoformat()):
            at = show_moment(datetime.fromisoformat(one.signed_at))
            found.append(refusals.SIGNED_AHEAD.fill(e_ncf=one.e_ncf, at=at))
        for one in self.store.in_state("refused", _NAMED):
            answer = one.answer or {}
            why = Text(str(answer.get("message", "?")), str(answer.get("messageEs", answer.get("message", "?"))))
            found.append(refusals.REFUSED_BY_SERVICE.fill(e_ncf=one.e_ncf, why=why))
        since = (self.clock() - _SHOWN).isoformat()
        for one in self.store.in_state("rejected", _NAMED, since=since):
            response = (one.answer or {}).get("response") or {}
            why_ = response.get("error") or "; ".join(str(m.get("valor")) for m in response.get("mensajes") or ())
            found.append(refusals.REJECTED.fill(e_ncf=one.e_ncf, status=one.status, why=why_ or "?"))
        free = shutil.disk_usage(self.folder).free
        if free < _LOW_DISK:
            found.append(refusals.DISK_LOW.fill(free=free // 2**20))
        return found

    def status(self) -> dict[str, Any]:
        """Report the state of this agent."""
        counts = self.store.counts()
        return {
            "name": self.facts["name"],
            "agentId": self.store.fact("agent"),
            "environment": self.store.fact("lease")["environment"],
            "online": self.deliverer.is_online,
            "trouble": self.deliverer.trouble,
            "signs": "till" if self.till.credential is not None else "service",
            "waiting": counts.get("waiting", 0),
            "handedOver": counts.get("handed over", 0),
            "done": counts.get("done", 0),
            "rejected": counts.get("rejected", 0),
            "refused": counts.get("refused", 0),
            "ranges": [
                {
                    "prefix": one.prefix,
                    "next": self.till.next_of(one),
                    "last": one.last,
                    "expireOn": None if one.last_day is None else one.last_day.isoformat(),
                }
                for one in self.till.ranges().values()
            ],
            "flags": [{"message": one.en, "messageEs": one.es} for one in self.flags()],
        }


def credential_of(settings: Mapping[str, Any]) -> Credential | None:
    """Open the till's certificate; None without one. Raises SaleRefused for a passphrase that others can read."""
    if "certificate" not in settings:
        return None
    file = Path(settings["passphraseFile"])
    if file.stat().st_mode & 0o077:
        raise SaleRefused(503, refusals.PASSPHRASE_OPEN.fill(file=file))
    passphrase = file.read_text().rstrip("\r\n")
    if "token" in settings:
        return open_token(Path(settings["certificate"]), settings["token"], passphrase)
    return open_p12(Path(settings["certificate"]).read_bytes(), passphrase)


def certificate_of(credential: Credential | None) -> str | None:
    """Return the SHA-256 by which the service knows a certificate."""
    return None if credential is None else credential.certificate.fingerprint(SHA256()).hex()
