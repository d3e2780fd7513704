"""`fe agent init`, `run` and `status`."""

import json
import os
import secrets
import signal
import threading
import uuid
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import click
import httpx

from fe.cli.failures import AWAY, Failure
from fe.cli.printing import json_option, show
from fe.clock import boot_seconds, system_clock
from fe.ecf.catalogue import PREFIXES
from fe.integrator import profiles
from fe.integrator.agent.agent import Agent, certificate_of, credential_of
from fe.integrator.agent.delivery import Courier
from fe.integrator.agent.folder import Folder
from fe.integrator.agent.refusals import COPIED, FENCED
from fe.integrator.agent.server import serve
from fe.integrator.agent.store import Store, place_of
from fe.integrator.agent.till import Watch
from fe.integrator.api import ApiSession
from fe.integrator.language import say, terminal_language
from fe.integrator.options import profile_option, remark

PORT = 8765
_folder = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
_SECONDS = 1.0


@click.group()
def agent() -> None:
    """Issue at a till while the line is down: sign, print, and deliver each receipt once when it is back."""


@agent.command()
@_folder
@profile_option
@click.option("--name", metavar="TEXT", help="Name of the till, and of its sequences.")
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="E32=FIRST-LAST",
    help="Numbers that this agent alone gives; repeat it for each type.",
)
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="Last day of the numbers.")
@click.option(
    "--certificate",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.p12",
    help="Sign at the till with it. Without one the service signs, and nothing is printed while the line is down.",
)
@click.option(
    "--passphrase-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file with its passphrase, or the token's PIN, readable by its owner only.",
)
@click.option(
    "--token",
    metavar="URI",
    help="The key is in a token: pkcs11:token=LABEL;object=KEY?module-path=FILE. Then the certificate is PEM.",
)
@click.option("--moved", is_flag=True, help="Confirm that this folder was moved, and no other copy works.")
@json_option
def init(
    folder: Path,
    profile: str,
    name: str | None,
    ranges: tuple[str, ...],
    expires: Any,
    certificate: Path | None,
    passphrase_file: Path | None,
    token: str | None,
    moved: bool,
    as_json: bool,
) -> None:
    """Make an agent in FOLDER, or add ranges or a new certificate to the one that is there. Needs the line.

    Repeating the command is harmless.
    """
    wanted = [_range(one) for one in ranges]
    if certificate is not None and passphrase_file is None:
        raise click.UsageError("--certificate needs --passphrase-file")
    if token is not None and certificate is None:
        raise click.UsageError("--token needs --certificate")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store(folder)
    try:
        settings = store.fact("settings") or {"name": name or folder.name}
        if store.fact("place") not in (None, place_of(folder)) and not moved:
            raise Failure(COPIED.said(terminal_language()))
        settings["profile"] = profile
        if certificate is not None and passphrase_file is not None:
            settings |= {"certificate": str(certificate.resolve()), "passphraseFile": str(passphrase_file.resolve())}
            settings.pop("token", None)
            if token is not None:
                settings["token"] = token
        credential = credential_of(settings)
        with store.transaction():
            store.put(agent=store.fact("agent") or str(uuid.uuid4()), settings=settings)
        key = profiles.load(profile)
        with ApiSession(key, language=terminal_language(), token=profiles.load_token(key)) as api:
            for prefix, first, last in wanted:
                _reserve(api, store.fact("agent"), settings["name"], prefix, first, last, expires)
            watch = Watch(system_clock, boot_seconds)
            Courier(store, api, watch, certificate_of(credential), system_clock).lease()
            printing = api.get("/printing")
        if store.fact("fenced") is not None:
            raise Failure(FENCED.said(terminal_language()))
        with store.transaction():
            store.put(place=place_of(folder), printing=printing)
        _token_of(folder)
        lease = store.fact("lease")
    finally:
        store.close()
    shown = {"agentId": lease["agentId"], "environment": lease["environment"], "epoch": lease["epoch"]}
    numbers = [f"{one['prefix']}={one['minSequence']}-{one['maxSequence']}" for one in lease["sequences"]]
    show({**shown, "ranges": numbers, "signs": "service" if credential is None else "till"}, as_json=as_json)
    if credential is None:
        remark(
            say(
                "without --certificate nothing can be printed while the line is down: receipts wait for the service",
                "sin --certificate no se puede imprimir sin línea: los comprobantes esperan al servicio",
            )
        )


def _range(text: str) -> tuple[str, int, int]:
    prefix, _, numbers = text.partition("=")
    first, _, last = numbers.partition("-")
    if prefix not in PREFIXES or not (first.isdigit() and last.isdigit()) or int(first) > int(last):
        raise click.UsageError(f"--range {text}: such as E32=9001-10000")
    return prefix, int(first), int(last)


def _reserve(api: ApiSession, agent_id: str, name: str, prefix: str, first: int, last: int, expires: Any) -> None:
    body = {"prefix": prefix, "name": name, "minSequence": first, "maxSequence": last, "agentId": agent_id}
    if expires is not None:
        body["expireAt"] = date(expires.year, expires.month, expires.day).isoformat()
    api.post("/ncf", body)


def _token_of(folder: Path) -> str:
    file = folder / "token"
    if not file.exists():
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(secrets.token_urlsafe(32))
    return file.read_text().strip()


@agent.command()
@_folder
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="On 127.0.0.1.")
def run(folder: Path, port: int) -> None:
    """Run the agent of FOLDER until SIGTERM or Ctrl-C. A kill at any moment loses no receipt."""
    agent = Agent(folder)
    ended = threading.Event()

    def end(*_: object) -> None:
        ended.set()
        agent.deliverer.woken.set()

    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, end)
    server = serve(agent, port, _token_of(folder))
    (folder / "port").write_text(str(server.server_port))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folders = threading.Thread(target=Folder(agent).run, args=(ended,))
    folders.start()
    remark(
        say(
            f"agent {agent.facts['name']} on http://127.0.0.1:{server.server_port}",
            f"agente {agent.facts['name']} en http://127.0.0.1:{server.server_port}",
        )
    )
    reporter = _Reporter(agent)
    try:
        agent.deliverer.run(ended, _SECONDS, reporter)
    finally:
        server.shutdown()
        ended.set()
        folders.join()
        agent.close()


class _Reporter:
    """Writes a flag to standard error when it appears, in the language of the terminal."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._said: set[str] = set()

    def __call__(self) -> None:
        flags = {one.said(terminal_language()) for one in self._agent.flags()}
        for one in sorted(flags - self._said):
            remark(one)
        self._said = flags


@agent.command()
@_folder
@json_option
def status(folder: Path, as_json: bool) -> None:
    """Show the state of the agent of FOLDER, and what to see to."""
    said = None
    with suppress(OSError, httpx.HTTPError):
        port, token = (folder / "port").read_text(), (folder / "token").read_text().strip()
        with httpx.Client(trust_env=False) as client:
            answer = client.get(f"http://127.0.0.1:{port}/status", headers={"Authorization": f"Bearer {token}"})
            said = json.loads(answer.text) if answer.is_success else None
    if said is None:
        raise Failure(
            say(f"the agent of {folder} is not running: `fe agent run {folder}`", f"el agente de {folder} no corre"),
            AWAY,
        )
    if as_json:
        show(said, as_json=True)
        return
    flags = said.pop("flags")
    show({**said, "ranges": [f"{one['prefix']} {one['next']}-{one['last']}" for one in said["ranges"]]}, as_json=False)
    for one in flags:
        click.echo(f"! {one['messageEs' if terminal_language() == 'es' else 'message']}")
