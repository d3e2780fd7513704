"""`fe webhook`: whom events are sent to, what became of each, and what a developer tries them with."""

import click

from fe.cli.webhook.deliveries import deliveries_, retry
from fe.cli.webhook.endpoint import disable, recover, recoveries_, reveal, rotate, set_, show_, test_
from fe.cli.webhook.listen import listen_
from fe.cli.webhook.trigger import trigger


@click.group()
def webhook() -> None:
    """Set where a tenant's events are sent, see what became of them, and try it on one machine."""


for command in (
    show_,
    set_,
    disable,
    rotate,
    reveal,
    test_,
    deliveries_,
    retry,
    recover,
    recoveries_,
    listen_,
    trigger,
):
    webhook.add_command(command)
