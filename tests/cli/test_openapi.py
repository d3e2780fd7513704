"""`fe openapi`: what it prints without a service is what a service serves."""

import json

import click.testing
import trio

from fe.cli.openapi import openapi
from fe.http.openapi.collection import collection
from fe.http.openapi.served import description
from fe.store.postgres.db import Database
from tests.http.front import start_front


def printed(*options: str) -> str:
    ended = click.testing.CliRunner().invoke(openapi, options)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


async def test_the_description_is_printed_as_it_is_served(front_db: Database, nursery: trio.Nursery) -> None:
    front = await start_front(nursery, front_db)
    async with front.client() as client:
        served = await client.get("/openapi.json")

    assert printed() == served.text + "\n"


def test_the_collection_is_printed_too() -> None:
    made = json.loads(printed("--postman"))

    assert made == json.loads(json.dumps(collection(description())))
    assert [folder["name"] for folder in made["item"]][:2] == [
        "1. From the login to a verdict",
        "2. A receipt of every type",
    ]


def test_what_we_call_can_be_left_out() -> None:
    made, whole = json.loads(printed("--without-webhooks")), json.loads(printed())

    assert whole.pop("webhooks")
    assert made == whole
