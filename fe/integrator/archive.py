"""`fe archive`: what a tenant takes home of its archive, and what an operator does for it."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import click

from fe.archive.program import FILE_NAME, build_verifier
from fe.cli.archive import check, detach, key, restore
from fe.cli.archive_export import export
from fe.cli.failures import Failure
from fe.cli.printing import json_option, show, show_all
from fe.integrator.api import ApiSession, opened
from fe.integrator.language import say
from fe.integrator.options import api_options, remark

_PAGE = 200
_MANIFEST = "manifest.json"
#: The file that lists the packages of a pull with their digests.
PROTOCOL = "protocol.txt"


@click.group()
def archive() -> None:
    """Take a tenant's archive home, and check it."""


archive.add_command(key)
archive.add_command(check)
archive.add_command(detach)
archive.add_command(restore)
archive.add_command(export)


@archive.command("list")
@api_options
@json_option
def list_(profile: str, patience: float, as_json: bool) -> None:
    """List the stored packages of the key's environment, newest first."""
    with opened(profile, patience) as api:
        show_all(api.items("/archive", limit=_PAGE), as_json=as_json, none="no packages")


@archive.command("pull")
@api_options
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@json_option
def pull(profile: str, patience: float, folder: Path, as_json: bool) -> None:
    """Download all packages into FOLDER, check their digests and their chain, and list them in protocol.txt.

    Puts the verifier beside them: `python3 fe-verify-archive.pyz FOLDER` checks everything without fe.

    Repeat it at any time: packages that are there are not fetched again, and a broken download goes on where it ended.
    Each environment needs a folder of its own: a package that is there with another digest is never replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fetched, lines, before = 0, list[str](), None
    with opened(profile, patience) as api:
        for package in reversed(api.items("/archive", limit=_PAGE)):
            number, previous = int(package["number"]), package["previousManifestSha256"]
            if previous != before:
                raise Failure(
                    say(
                        f"package {number} does not follow the one before: ask the operator",
                        f"el paquete {number} no sigue al anterior: consulte al operador",
                    )
                )
            before = package["manifestSha256"]
            path = folder / f"{number:06d}.zip"
            if not _is_there(path, package["sha256"]):
                _refuse_to_replace(path)
                _fetch(api, package, path)
                fetched += 1
            if package["stampedAt"] is not None and not path.with_suffix(".tst").exists():
                api.resume(f"/archive/{number}/tst", path.with_suffix(".tst.part"))
                path.with_suffix(".tst.part").replace(path.with_suffix(".tst"))
            lines.append(_line(path, package))
    (folder / PROTOCOL).write_text("".join(f"{line}\n" for line in [_HEAD, *lines]), encoding="utf-8")
    (folder / FILE_NAME).write_bytes(build_verifier())
    show({"packages": len(lines), "fetched": fetched, "folder": str(folder)}, as_json=as_json)


_HEAD = "package  day  receipts  additions  bytes  sha256  manifest"


def _refuse_to_replace(path: Path) -> None:
    """Raise Failure if there is a file: it may be of another chain, or prove that the service changed a package."""
    if path.exists():
        raise Failure(
            say(
                f"{path} has another digest than the list gives it: keep it, ask the operator, or use another folder",
                f"{path} tiene otra huella que la de la lista: consérvelo, consulte al operador o use otra carpeta",
            )
        )


def _fetch(api: ApiSession, package: dict[str, Any], path: Path) -> None:
    """Download a package. A part that turns out to be of other bytes is fetched again from its beginning, once."""
    part = path.with_name(f"{path.name}.part")
    for is_last in (False, True):
        api.resume(f"/archive/{package['number']}/zip", part)
        if _is_there(part, package["sha256"]):
            part.replace(path)
            return
        part.unlink()
        if not is_last:
            remark(
                say(
                    f"package {package['number']} came with other bytes: fetching it again",
                    f"el paquete {package['number']} llegó con otros bytes: se pide de nuevo",
                )
            )
    raise Failure(
        say(
            f"package {package['number']} does not have the digest of the list: ask the operator",
            f"el paquete {package['number']} no tiene la huella de la lista: consulte al operador",
        )
    )


def _is_there(path: Path, digest: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == digest


def _line(path: Path, package: dict[str, Any]) -> str:
    """Write the line of a package, after comparing its manifest with the list."""
    try:
        with zipfile.ZipFile(path) as file:
            manifest = file.read(_MANIFEST)
        said = json.loads(manifest)["counts"]["receipts"]
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError):
        manifest, said = b"", None
    if hashlib.sha256(manifest).hexdigest() != package["manifestSha256"] or said is None:
        raise Failure(
            say(
                f"the manifest of {path.name} is not the one of the list: ask the operator",
                f"el manifiesto de {path.name} no es el de la lista: consulte al operador",
            )
        )
    names = ("day", "receipts", "additions", "bytes", "sha256", "manifestSha256")
    return "  ".join([path.name, *(str(package[name]) for name in names)])
