"""Reading the one file part of a submission, with the habits of other people's clients.

See authority.md#operations, #reception and #receivers.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote_to_bytes

_BOUNDARY = re.compile(r'multipart/form-data\s*;(?:.*;)?\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;]+))', re.IGNORECASE)
_PARAMETER = re.compile(r';\s*([A-Za-z0-9_*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))')
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True)
class Part:
    """A file part: what it was called and its exact bytes."""

    file_name: str
    content: bytes

    @cached_property
    def sha256(self) -> str:
        """The digest of the exact bytes, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


class NoPart(ValueError):
    """There is no usable part named `xml`; the text says why."""


def read_xml_part(content_type: str, body: bytes) -> Part:
    """Return the part named `xml`, in any case; raise NoPart.

    Tolerated: unquoted parameters, no or any content type of the part, `filename*`, lines ended by LF alone, other
    parts. Needed: the last boundary, a file name, and content that is not empty.
    """
    boundary = _BOUNDARY.match(content_type)
    if boundary is None:
        raise NoPart("la solicitud no es multipart/form-data")
    mark = re.escape((boundary[1] or boundary[2]).encode("latin-1"))
    # From the line feed on, because a search for something fixed is many times faster; the carriage return goes after.
    *pieces, end = re.split(rb"\n--" + mark + rb"(?=--|[ \t]*\r?\n)", b"\r\n" + body)
    if not end.startswith(b"--"):
        raise NoPart("el formulario está incompleto")
    for piece in pieces[1:]:
        blank = _BLANK_LINE.search(piece)
        if blank is None:
            continue
        disposition = _disposition(piece[: blank.start()])
        content = piece[blank.end() :].removesuffix(b"\r")
        if disposition.get("name", "").lower() != "xml":
            continue
        file_name = disposition.get("filename", "")
        if not file_name:
            raise NoPart("el archivo no tiene nombre")
        if not content.strip():
            raise NoPart("el archivo está vacío")
        return Part(file_name, content)
    raise NoPart("no se recibió el archivo xml")


def _disposition(headers: bytes) -> dict[str, str]:
    for line in headers.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-disposition":
            return _parameters(value)
    return {}


def _parameters(value: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(value):
        name = name.lower()
        if name == "filename*":
            # RFC 5987: charset'language'percent-encoded. Some send it beside filename, some alone.
            encoded = (bare or quoted).strip().rpartition("'")[2]
            found.setdefault("filename", unquote_to_bytes(encoded).decode("utf-8", "replace"))
        elif name == "filename":
            # Old browsers send the whole path.
            found["filename"] = re.split(r"[\\/]", quoted or bare.strip())[-1]
        else:
            found[name] = quoted or bare.strip()
    return found
