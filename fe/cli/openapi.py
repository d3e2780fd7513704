"""`fe openapi`: the description of the API, for programs that make others of it."""

import click

from fe.ecf.json_text import write_json


@click.command()
@click.option("--postman", is_flag=True, help="As a Postman collection, which Bruno and Insomnia import too.")
@click.option("--without-webhooks", is_flag=True, help="Without what we call: some generators make no client of it.")
def openapi(postman: bool, without_webhooks: bool) -> None:
    """Print the OpenAPI description of this release, as served at /api/v1/fe/openapi.json.

    Needs no settings and calls nothing. For client generators; docs/api lists the tested ones.
    """
    from fe.http.openapi.collection import collection  # with it comes the whole front
    from fe.http.openapi.served import description

    made = description()
    if without_webhooks:
        del made["webhooks"]
    click.echo(write_json(collection(made) if postman else made).decode())
