"""Which actors there are: the stages of the outbox and who handles each."""

import random
from datetime import timedelta

from fe.actors.credentials import Credentials
from fe.actors.loop import Plan, Tools
from fe.actors.pulse import Pulse
from fe.actors.reconciler import Reconciler
from fe.actors.schedule import DOUBT_FOR, FOLLOW_FOR, poll_gap, retry_gap, scaled
from fe.actors.sender import Sender
from fe.actors.signer import SignerPool
from fe.actors.tracker import Tracker
from fe.authority.client import Authority
from fe.config import Settings
from fe.ecf.catalogue import Host
from fe.ecf.states import Stage
from fe.flows.signing import QrHosts

_NO_HOST = ("",)
_ANY_HOST = (Host.ECF, Host.FC)

#: A cancelled query over a dead link takes 10.5 s to come back, so a try must end that much before its lease does.
_SLACK = timedelta(seconds=15)


def stages(
    settings: Settings, tools: Tools, authority: Authority, credentials: Credentials, pulse: Pulse
) -> list[Plan]:
    """Build the actors of this process. They sign in as many threads as `credentials` opens its keys in."""
    db, clock = tools.db, tools.clock
    hosts = QrHosts(settings.authority_ecf_url, settings.authority_fc_url)
    signer = SignerPool(db, credentials, credentials.threads, hosts, clock, tools.metrics)
    scale, spread = settings.time_scale, random.Random()  # noqa: S311  (jitter)
    retry, poll = scaled(retry_gap, scale), scaled(poll_gap, scale)
    reconciler = Reconciler(db, authority, credentials, clock, spread, retry)
    sender = Sender(db, authority, credentials, reconciler, settings.anecf_service, settings.lease, clock, pulse)
    tracker = Tracker(db, authority, credentials, reconciler, clock, spread, poll, FOLLOW_FOR * scale)
    budget = max((settings.lease - _SLACK).total_seconds(), settings.lease_seconds / 2)
    return [
        Plan(Stage.SIGN, signer.sign, settings.sign_slots * 4, _NO_HOST, budget, retry),
        Plan(Stage.SEND, sender.send, settings.send_slots, _ANY_HOST, budget, retry, may_have_acted=True),
        Plan(
            Stage.TRACK,
            tracker.track,
            settings.track_slots,
            (Host.ECF,),
            budget,
            gap=poll,
            max_attempts=None,
            patience=FOLLOW_FOR * scale,
        ),
        Plan(
            Stage.RECONCILE,
            reconciler.reconcile,
            settings.track_slots,
            _ANY_HOST,
            budget,
            gap=poll,
            max_attempts=None,
            patience=DOUBT_FOR * scale,
        ),
    ]
