"""Downloads of the clients, made of their sources when they are first asked for.

The sources come with the package: `fe/clients` has a link to the folder of each. The same sources give the same bytes.
"""

import io
import re
import tomllib
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

#: Languages whose sources are packed as they are, by their names.
PACKED = {"csharp": "C#", "java": "Java", "php": "PHP", "typescript": "TypeScript"}
_SUFFIXES = (".cs", ".csproj", ".java", ".php", ".py", ".ts", ".json", ".md", ".typed", "LICENSE")
#: Folders that are no sources.
_MADE = ("__pycache__", "node_modules", "dist")


@dataclass(frozen=True, slots=True)
class Download:
    """A file, its SHA-256, the language it is for, and the place of its page."""

    name: str
    language: str
    place: str
    content: bytes
    digest: str


@cache
def downloads() -> Mapping[str, Download]:
    """Pack every client. CPU work, once. By the name of the file."""
    root = files("fe").joinpath("clients")
    made = [
        (f"fe-client-{folder}.zip", language, folder, _zip(dict(_sources(root.joinpath(folder), "fe-client"))))
        for folder, language in PACKED.items()
    ]
    made.append(_wheel(root.joinpath("python")))
    return {
        name: Download(name, language, f"clients/{folder}", content, sha256(content).hexdigest())
        for name, language, folder, content in made
    }


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name not in _MADE:
                yield from _sources(entry, f"{path}/{entry.name}")
        elif entry.name.endswith(_SUFFIXES):
            yield f"{path}/{entry.name}", entry.read_bytes()


def _zip(held: Mapping[str, bytes]) -> bytes:
    """Write an archive that is the same wherever and whenever it is made."""
    written = io.BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as archive:
        for name in sorted(held):
            about = ZipInfo(name)
            about.compress_type = ZIP_DEFLATED
            about.external_attr = 0o100644 << 16
            archive.writestr(about, held[name])
    return written.getvalue()


def _wheel(folder: Traversable) -> tuple[str, str, str, bytes]:
    """Write the wheel of the Python client: a package without anything to build."""
    project = tomllib.loads(folder.joinpath("pyproject.toml").read_text("utf-8"))["project"]
    name = re.sub(r"\W", "_", project["name"])
    stem = f"{name}-{project['version']}"
    needs = "".join(f"Requires-Dist: {one}\n" for one in project["dependencies"])
    about = (
        f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n"
        f"Summary: {project['description']}\nLicense-Expression: {project['license']}\nLicense-File: LICENSE\n"
        f"Requires-Python: {project['requires-python']}\n{needs}Description-Content-Type: text/markdown\n\n"
    )
    held = dict(_sources(folder.joinpath(name), name))
    held |= {
        f"{stem}.dist-info/METADATA": about.encode() + folder.joinpath("README.md").read_bytes(),
        f"{stem}.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: fe\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/licenses/LICENSE": folder.joinpath("LICENSE").read_bytes(),
    }
    record = "".join(f"{path},sha256={_of_record(content)},{len(content)}\n" for path, content in sorted(held.items()))
    own = f"{stem}.dist-info/RECORD"
    return f"{stem}-py3-none-any.whl", "Python", "python", _zip({**held, own: f"{record}{own},,\n".encode()})


def _of_record(content: bytes) -> str:
    return urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
