"""The one form this wire knows: `multipart/form-data` with one file part named `xml`.

See authority.md#operations and #reception.
"""

import re
from dataclasses import dataclass
from hashlib import sha256

#: Any text that a document does not hold will do; for one that holds this, another is found.
_BOUNDARY = "e-CF-7c1f5a0be94d42d38e6a9b1c0f27d853"

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.xml")


@dataclass(frozen=True, slots=True)
class MultipartForm:
    """A whole request body and its Content-Type. Its length is known: the authority refuses chunked forms as empty."""

    content_type: str
    body: bytes


def xml_form(file_name: str, xml: bytes) -> MultipartForm:
    """Wrap `xml` as it is. ValueError if `file_name` is not plain ASCII ending in `.xml`: it is written into a header.

    The same file gives the same bytes, so a document that is sent again is sent again to the byte.
    """
    if not _FILE_NAME.fullmatch(file_name):
        raise ValueError(f"not a file name for the authority: {file_name[:100]!r}")
    boundary = _BOUNDARY
    while boundary.encode() in xml:
        boundary = sha256(boundary.encode() + xml).hexdigest()
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="xml"; filename="{file_name}"\r\n'
        "Content-Type: text/xml\r\n\r\n"
    )
    body = b"".join((head.encode("ascii"), xml, f"\r\n--{boundary}--\r\n".encode("ascii")))
    return MultipartForm(f"multipart/form-data; boundary={boundary}", body)
