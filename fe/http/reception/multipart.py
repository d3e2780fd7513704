"""The one file part of a form, with the habits of other people's programs (authority.md#receivers).

Werkzeug reads the form: it takes unquoted names, `filename*`, any content type of a part, and lines ended by LF alone.
Here is what it leaves open: which part counts, and that there is only one.
"""

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder

#: A sender's form has one part; some add a few fields.
MAX_PARTS = 16
_MAX_BOUNDARY = 200


class BadForm(ValueError):
    """The form cannot be read, or has not exactly one part named `xml`; the message says why."""


def read_xml_part(content_type: str, body: bytes) -> bytes:
    """Give the exact bytes of the part named `xml`, in any case; whatever its file name and content type.

    Raises BadForm: no form, no boundary, cut off, too many parts, no such part, two of them (another reader may take
    the other one), or one that is encoded or empty. Memory: the body once more; time: linear in it.
    """
    media_type, options = parse_options_header(content_type)
    boundary = options.get("boundary", "")
    if media_type.lower() != "multipart/form-data":
        raise BadForm("the request should be multipart/form-data")
    if not boundary or len(boundary) > _MAX_BOUNDARY:
        raise BadForm("the boundary of the form is missing or too long")
    found: list[bytes] = []
    try:
        _collect(boundary.encode("latin-1"), body, found)
    except RequestEntityTooLarge:
        raise BadForm(f"the form has more than {MAX_PARTS} parts") from None
    except BadForm:
        raise
    except (
        ValueError,
        AttributeError,
    ):  # Werkzeug's words for a part without headers or a blank line, and for bad UTF-8
        raise BadForm("the form is broken or cut off") from None
    if not found:
        raise BadForm("the form has no part named xml")
    if len(found) > 1:
        raise BadForm("the form has several parts named xml")
    if not found[0].strip():
        raise BadForm("the part named xml is empty")
    return found[0]


def _collect(boundary: bytes, body: bytes, found: list[bytes]) -> None:
    decoder = MultipartDecoder(boundary, max_parts=MAX_PARTS)
    decoder.receive_data(body)
    decoder.receive_data(None)
    wanted = False
    content = bytearray()
    while not isinstance(event := decoder.next_event(), Epilogue):
        if isinstance(event, File | Field):
            wanted = (event.name or "").lower() == "xml"
            content = bytearray()
            encoding = event.headers.get("content-transfer-encoding", "binary").lower()
            if wanted and encoding not in ("binary", "8bit", "7bit"):
                raise BadForm("the part named xml is sent in an encoding: send its bytes as they are")
        elif isinstance(event, Data) and wanted:
            content += event.data
            if not event.more_data:
                found.append(bytes(content))
