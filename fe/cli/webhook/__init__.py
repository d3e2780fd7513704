"""`fe webhook`: whom events are sent to, what became of each, and what a developer tries them with."""

import click

from fe.cli.webhook.listen import listen_


@click.group()
def webhook() -> None:
    """Set where a tenant's events are sent, see what became of them, and try it on one machine."""


webhook.add_command(listen_)
