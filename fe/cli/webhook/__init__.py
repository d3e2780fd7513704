"""`fe webhook`: where events are sent, deliveries, and commands to try webhooks with."""

import click

from fe.cli import Lazy
from fe.cli.webhook.deliveries import deliveries_, retry
from fe.cli.webhook.endpoint import delete, disable, recover, recoveries_, reveal, rotate, set_, show_, test_

#: Commands of integrators: they need no database.
_TRY = {
    "listen": ("fe.integrator.webhook.listen:listen_", "Receive webhooks, check their signatures and print them."),
    "trigger": ("fe.integrator.webhook.trigger:trigger", "Send a sample event."),
}


@click.group(cls=Lazy, commands=_TRY)
def webhook() -> None:
    """Set where a tenant's events are sent, see deliveries, and try webhooks on one machine."""


for command in (show_, set_, disable, delete, rotate, reveal, test_, deliveries_, retry, recover, recoveries_):
    webhook.add_command(command)
