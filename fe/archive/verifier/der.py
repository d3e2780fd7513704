"""Read DER: definite, minimal lengths and single-byte tags."""

from dataclasses import dataclass
from datetime import UTC, datetime

from .faults import Broken

INTEGER, BIT_STRING, OCTET_STRING, OID, UTC_TIME, GENERALIZED_TIME = 0x02, 0x03, 0x04, 0x06, 0x17, 0x18
SEQUENCE, SET, BOOLEAN = 0x30, 0x31, 0x01


@dataclass(frozen=True)
class Value:
    """A value: its tag, its content, and all of its bytes."""

    tag: int
    content: bytes
    raw: bytes

    def parts(self, tag: int = SEQUENCE) -> list["Value"]:
        """Return the values within a constructed one."""
        self.expect(tag)
        found, place = [], 0
        while place < len(self.content):
            one, place = _read(self.content, place)
            found.append(one)
        return found

    def expect(self, tag: int) -> "Value":
        """Return the value itself. Raises Broken when it has another tag."""
        if self.tag != tag:
            raise Broken(f"DER: tag {self.tag:#x} instead of {tag:#x}")
        return self

    def integer(self) -> int:
        """Read an INTEGER."""
        content = self.expect(INTEGER).content
        if not content or (len(content) > 1 and content[0] in (0, 255) and (content[0] ^ content[1]) < 128):
            raise Broken("DER: an integer is not minimal")
        return int.from_bytes(content, "big", signed=True)

    def bits(self) -> bytes:
        """Read a BIT STRING of whole bytes."""
        content = self.expect(BIT_STRING).content
        if content[:1] != b"\0":
            raise Broken("DER: a bit string does not have whole bytes")
        return content[1:]

    def oid(self) -> str:
        """Read an OBJECT IDENTIFIER, in hexadecimal of its content."""
        return self.expect(OID).content.hex()

    def time(self) -> datetime:
        """Read a UTCTime or a GeneralizedTime in whole seconds, both with Z."""
        text = self.content.decode("ascii", "replace")
        if self.tag == UTC_TIME and len(text) == 13:
            text = ("20" if text[:2] < "50" else "19") + text
        elif self.tag != GENERALIZED_TIME:
            raise Broken("DER: no time")
        if len(text) != 15 or not (text[:14].isdigit() and text[14] == "Z"):
            raise Broken("DER: a time is not in UTC to the second")
        try:
            return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            raise Broken("DER: there is no such time") from None


def read(raw: bytes) -> Value:
    """Read one value that takes all of the bytes. Raises Broken."""
    value, end = _read(raw, 0)
    if end != len(raw):
        raise Broken("DER: there are bytes after the value")
    return value


def _read(raw: bytes, place: int) -> tuple[Value, int]:
    start = place
    if place + 2 > len(raw) or raw[place] & 31 == 31:
        raise Broken("DER: it ends early, or has a long tag")
    tag, length = raw[place], raw[place + 1]
    place += 2
    if length >= 128:
        count = length - 128
        if not 1 <= count <= 4 or place + count > len(raw):
            raise Broken("DER: a length cannot be read")
        length = int.from_bytes(raw[place : place + count], "big")
        if length < 128 or length < 1 << 8 * (count - 1):
            raise Broken("DER: a length is not minimal")
        place += count
    if place + length > len(raw):
        raise Broken("DER: it ends early")
    return Value(tag, raw[place : place + length], raw[start : place + length]), place + length
