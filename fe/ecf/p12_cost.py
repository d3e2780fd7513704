"""Look into a .p12 (PKCS#12) before any key is derived from its passphrase, and bound what opening it can cost.

A .p12 says itself how many rounds its passphrase is stretched, up to 2**31: a minute or an hour of processor time for a
file of three kilobytes. The counts stand in the open in the outer structure, so they are read and added up first. One
place cannot be read: a private key *inside* an encrypted part names its own count there. So the parts that can be read
are put first, and must hold a private key; OpenSSL takes the first key it finds and then never touches another. The
other keys of a readable part are opened one by one (`encrypted_keys`).

Rearranging breaks the file's own checksum (its MAC), which is left out. It guards against accidents only: it is keyed
with the same passphrase, a wrong passphrase shows as undecipherable content, and key and certificate are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass

#: Firefox uses 600,000 for each of two parts, OpenSSL 2,048, Java 10,000.
MAX_ITERATIONS = 1_500_000
#: The PKCS#8 form of a 4096-bit RSA key is 2,375 bytes. Larger keys take seconds to check.
MAX_KEY_BYTES = 3_000
#: A certifier issues pairs for signing, for encryption and for authentication. Checking one key takes 40 ms.
MAX_KEYS = 4

_MAX_DEPTH = 16

_SEQUENCE, _INTEGER, _OCTETS, _OID = 0x30, 0x02, 0x04, 0x06
_CONSTRUCTED = 0x20
_EXPLICIT_0 = 0xA0

_PKCS = b"\x2a\x86\x48\x86\xf7\x0d\x01"
_DATA = _PKCS + b"\x07\x01"
_ENCRYPTED_DATA = _PKCS + b"\x07\x06"
_PBES1 = frozenset({_PKCS + b"\x05" + bytes([n]) for n in (1, 3, 4, 6, 10, 11)})
_PBES2 = _PKCS + b"\x05\x0d"
_PBKDF2 = _PKCS + b"\x05\x0c"
_PKCS12_PBE = frozenset({_PKCS + b"\x0c\x01" + bytes([n]) for n in range(1, 7)})
_KEY_BAG = _PKCS + b"\x0c\x0a\x01\x01"
_SHROUDED_KEY_BAG = _PKCS + b"\x0c\x0a\x01\x02"
_NESTED_BAG = _PKCS + b"\x0c\x0a\x01\x06"


class NotPkcs12(ValueError):
    """The bytes do not have the structure of a PKCS#12 file."""


class Unsupported(ValueError):
    """A PKCS#12 file protected in a way whose cost cannot be told beforehand."""


class Costly(ValueError):
    """A PKCS#12 file that would take too long to open."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """A .p12 that is safe to open: the same parts, the readable ones first, without checksum.

    `has_key` tells whether a private key stands in a readable part. Without one the file must not be opened.
    """

    data: bytes
    has_key: bool
    iterations: int


def bound(data: bytes) -> Bounded:
    """Read the structure of `data` and rearrange it. Raises NotPkcs12, Unsupported or Costly; derives no key."""
    whole = _one(data)
    version, content, *_ = _sequence(whole, at_least=2)
    if version.tag != _INTEGER:
        raise NotPkcs12("no version")
    oid, inside = _content(content)
    if oid != _DATA:
        raise Unsupported("protected with a certificate, not with a passphrase")

    readable: list[bytes] = []
    encrypted: list[bytes] = []
    iterations = 0
    keys = 0
    for part in _sequence(_one(_octets(inside))):
        oid, inside = _content(part)
        if oid == _DATA:
            readable.append(part.whole)
            for bag in _sequence(_one(_octets(inside))):
                count = _key_iterations(bag)
                keys += count is not None
                iterations += count or 0
        elif oid == _ENCRYPTED_DATA:
            encrypted.append(part.whole)
            _, encrypted_content, *_ = _sequence(inside, at_least=2)
            _, algorithm, *_ = _sequence(encrypted_content, at_least=2)
            iterations += _iterations(algorithm)
        else:
            raise Unsupported("protected with a certificate, not with a passphrase")
    if iterations > MAX_ITERATIONS:
        raise Costly(f"asks for more than {MAX_ITERATIONS} rounds of key derivation")
    if keys > MAX_KEYS:
        raise Costly(f"holds more than {MAX_KEYS} private keys")
    return Bounded(_file(readable + encrypted), keys > 0, iterations)


def encrypted_keys(data: bytes) -> list[bytes]:
    """Return the private keys in the readable parts as PKCS#8, in order, where each is encrypted by itself.

    For a file that `bound` let through. Empty where a key stands there unencrypted.
    """
    keys = []
    _, content, *_ = _sequence(_one(data), at_least=2)
    for part in _sequence(_one(_octets(_content(content)[1]))):
        oid, inside = _content(part)
        if oid != _DATA:
            continue
        for bag in _sequence(_one(_octets(inside))):
            kind, value, *_ = _sequence(bag, at_least=2)
            if kind.content == _KEY_BAG:
                return []
            if kind.content == _SHROUDED_KEY_BAG:
                keys.append(_explicit(value).whole)
    return keys


def _key_iterations(bag: "_Element") -> int | None:
    """The rounds that the private key in `bag` asks for; None for a bag without one."""
    kind, value, *_ = _sequence(bag, at_least=2)
    if kind.content == _NESTED_BAG:
        raise Unsupported("bags within bags")
    if kind.content not in (_KEY_BAG, _SHROUDED_KEY_BAG):
        return None
    if len(value.content) > MAX_KEY_BYTES:
        raise Costly("holds a key of more than 4096 bits")
    if kind.content == _KEY_BAG:
        return 0
    algorithm, *_ = _sequence(_explicit(value), at_least=2)
    return _iterations(algorithm)


def _iterations(algorithm: "_Element") -> int:
    oid, parameters, *_ = _sequence(algorithm, at_least=2)
    if oid.content == _PBES2:
        derivation, *_ = _sequence(parameters, at_least=2)
        oid, parameters, *_ = _sequence(derivation, at_least=2)
        if oid.content != _PBKDF2:
            raise Unsupported("a key derivation other than PBKDF2")
    elif oid.content not in _PKCS12_PBE and oid.content not in _PBES1:
        raise Unsupported("an unknown kind of encryption")
    _, count, *_ = _sequence(parameters, at_least=2)
    if count.tag != _INTEGER or not count.content:
        raise NotPkcs12("no iteration count")
    return max(0, int.from_bytes(count.content, signed=True))


# --- the encoding (X.690) -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Element:
    tag: int
    content: bytes
    whole: bytes


def _read(data: bytes, start: int, depth: int) -> tuple[_Element, int]:
    """The element at `start`, and where it ends. Java and Windows write lengths of the indefinite form, so both do."""
    if depth > _MAX_DEPTH or start + 2 > len(data):
        raise NotPkcs12("too deep, or cut off")
    tag, length = data[start], data[start + 1]
    begin = start + 2
    if tag & 0x1F == 0x1F:
        raise NotPkcs12("a tag that PKCS#12 does not have")
    if length == 0x80:
        if not tag & _CONSTRUCTED:
            raise NotPkcs12("an indefinite length that may not be")
        end = begin
        while data[end : end + 2] != b"\0\0":
            _, end = _read(data, end, depth + 1)
        return _Element(tag, data[begin:end], data[start : end + 2]), end + 2
    if length > 0x80:
        size = length & 0x7F
        length = int.from_bytes(data[begin : begin + size])
        begin += size
    end = begin + length
    if end > len(data):
        raise NotPkcs12("cut off")
    return _Element(tag, data[begin:end], data[start:end]), end


def _elements(data: bytes) -> Iterator[_Element]:
    position = 0
    while position < len(data):
        element, position = _read(data, position, 0)
        yield element


def _one(data: bytes) -> _Element:
    element, end = _read(data, 0, 0)
    if end != len(data):
        raise NotPkcs12("something follows")
    return element


def _sequence(element: _Element, at_least: int = 0) -> list[_Element]:
    if element.tag != _SEQUENCE:
        raise NotPkcs12("a sequence was expected")
    members = list(_elements(element.content))
    if len(members) < at_least:
        raise NotPkcs12("a sequence is too short")
    return members


def _explicit(element: _Element) -> _Element:
    if element.tag != _EXPLICIT_0:
        raise NotPkcs12("content was expected")
    return _one(element.content)


def _content(element: _Element) -> tuple[bytes, _Element]:
    """A ContentInfo: the object identifier of its type, and what is inside."""
    oid, inside, *_ = _sequence(element, at_least=2)
    if oid.tag != _OID:
        raise NotPkcs12("no content type")
    return oid.content, _explicit(inside)


def _octets(element: _Element) -> bytes:
    if element.tag == _OCTETS:
        return element.content
    if element.tag == _OCTETS | _CONSTRUCTED:
        segments = list(_elements(element.content))
        if all(segment.tag == _OCTETS for segment in segments):
            return b"".join(segment.content for segment in segments)
    raise NotPkcs12("octets were expected")


def _encode(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(length)]) + length + content


def _file(parts: list[bytes]) -> bytes:
    safes = _encode(_OCTETS, _encode(_SEQUENCE, *parts))
    content = _encode(_SEQUENCE, _encode(_OID, _DATA), _encode(_EXPLICIT_0, safes))
    return _encode(_SEQUENCE, _encode(_INTEGER, b"\x03"), content)
