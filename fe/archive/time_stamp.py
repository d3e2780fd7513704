"""Ask for a time stamp (RFC 3161): bytes of the request, and the response's token. Sending is the caller's."""

from fe.archive.verifier import der
from fe.archive.verifier.time_stamp import TimeStamp, read_time_stamp

REQUEST_TYPE, RESPONSE_TYPE = "application/timestamp-query", "application/timestamp-reply"
_SHA256 = bytes.fromhex("300d06096086480165030402010500")
_GRANTED = (0, 1)


class NoTimeStamp(ValueError):
    """A response without a token that holds; the message says why."""


def time_stamp_request(digest: bytes) -> bytes:
    """Return a TimeStampReq about a SHA-256 digest (`Sealed.digest`) that asks for the signer's certificate.

    It has no nonce: the digest is of a manifest with the time of its making, so an older token cannot be about it.
    """
    if len(digest) != 32:
        raise ValueError("not a SHA-256 digest")
    body = b"\x02\x01\x01" + b"\x30\x31" + _SHA256 + b"\x04\x20" + digest + b"\x01\x01\xff"
    return bytes([der.SEQUENCE, len(body)]) + body


def read_response(response: bytes, digest: bytes) -> tuple[bytes, TimeStamp]:
    """Return the token of a TimeStampResp, and what it says. Raises NoTimeStamp."""
    try:
        status, *token = der.read(response).parts()
        code = status.parts()[0].integer()
        if code not in _GRANTED or not token:
            raise NoTimeStamp(f"the time stamp authority refused with status {code}")
        return token[0].raw, read_time_stamp(token[0].raw, digest)
    except NoTimeStamp:
        raise
    except (ValueError, IndexError) as wrong:
        raise NoTimeStamp(f"the time stamp authority's response does not hold: {wrong}") from None
