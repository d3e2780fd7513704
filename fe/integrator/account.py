"""`fe login` and `fe logout`: keeping a key for the API of a service, and forgetting it."""

import os
import sys
from datetime import timedelta

import click

from fe.cli.failures import NOT_THERE, USAGE, Failure
from fe.cli.printing import json_option, print_result
from fe.clock import system_clock
from fe.integrator import profiles
from fe.integrator.api import ApiSession, base_of
from fe.integrator.language import say, terminal_language
from fe.integrator.options import api_options, profile_option
from fe.integrator.profiles import Profile

#: A command's own input, like options, and no settings of the service.
KEY_ID, SECRET = "FE_API_KEY_ID", "FE_API_SECRET"
_PREFIX = "fak_"


@click.command()
@click.argument("url", envvar="FE_URL")
@api_options
@click.option(
    "--plain-http", is_flag=True, help="Let URL be http of another machine: the secret can be read on its way."
)
@json_option
def login(url: str, profile: str, patience: float, plain_http: bool, as_json: bool) -> None:
    """Store a key for the API at URL (https://.../api/v1/fe), after testing it.

    URL defaults to FE_URL. Id and secret come from FE_API_KEY_ID and FE_API_SECRET, else from a prompt in a terminal,
    else from standard input, one line each. They are stored in a file that only you can read, under XDG_CONFIG_HOME or
    ~/.config.
    """
    base = base_of(url, plain=plain_http)
    key_id, secret = _read_key()
    wanted = Profile(profile, base, key_id, secret, "")
    kept: list[profiles.StoredToken] = []
    with ApiSession(
        wanted, language=terminal_language(), patience=patience, keep=lambda _, token: kept.append(token)
    ) as api:
        said = api.login()
    made = Profile(profile, base, key_id, secret, str(said.get("environment", "")))
    file = profiles.save(made)
    profiles.save_token(made, kept[-1])
    record = {
        "profile": profile,
        "baseUrl": base,
        "apiKeyId": key_id,
        "environment": made.environment,
        "scopes": said.get("scopes"),
        "tokenUntil": system_clock() + timedelta(seconds=int(said["expiresIn"])),
        "file": str(file),
    }
    print_result(
        say(
            f"logged in to {base} ({made.environment}) as {key_id}; kept in {file}",
            f"sesión iniciada en {base} ({made.environment}) como {key_id}; guardada en {file}",
        ),
        record,
        as_json=as_json,
    )


@click.command()
@profile_option
@json_option
def logout(profile: str, as_json: bool) -> None:
    """Forget a key that `fe login` kept, and its token. The key stays valid: revoke it where it was made."""
    if not profiles.forget(profile):
        raise Failure(say(f"there is no profile {profile}", f"no existe el perfil {profile}"), NOT_THERE)
    print_result(
        say(f"the profile {profile} is forgotten", f"el perfil {profile} se borró"),
        {"profile": profile, "forgotten": True},
        as_json=as_json,
    )


def _read_key() -> tuple[str, str]:
    """Read a key's id and secret from the environment, or ask for them."""
    key_id, secret = os.environ.get(KEY_ID, ""), os.environ.get(SECRET, "")
    if sys.stdin.isatty():
        key_id = key_id or click.prompt("apiKeyId", err=True)
        secret = secret or click.prompt("apiSecret", hide_input=True, err=True)
    else:
        key_id = key_id or sys.stdin.readline()
        secret = secret or sys.stdin.readline()
    key_id, secret = key_id.strip(), secret.strip()
    if not key_id.startswith(_PREFIX) or not secret:
        raise Failure(
            say(
                f"no key: {KEY_ID} ({_PREFIX}...) and {SECRET}, or both on standard input, a line each",
                f"falta la clave: {KEY_ID} ({_PREFIX}...) y {SECRET}, o ambos en la entrada estándar, uno por línea",
            ),
            USAGE,
        )
    return key_id, secret
