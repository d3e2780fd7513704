"""Verify signatures with public keys, in plain integers: RSASSA-PKCS1-v1_5, and ECDSA on P-256 and P-384."""

import hashlib
from dataclasses import dataclass

from . import der
from .faults import Broken

MIN_BITS, MAX_BITS = 2048, 8192
_RSA = "2a864886f70d010101"
_EC = "2a8648ce3d0201"
#: Prefixes of DigestInfo (RFC 8017, section 9.2).
_DIGEST_INFO = {
    "sha256": bytes.fromhex("3031300d060960864801650304020105000420"),
    "sha384": bytes.fromhex("3041300d060960864801650304020205000430"),
    "sha512": bytes.fromhex("3051300d060960864801650304020305000440"),
}


@dataclass(frozen=True)
class RsaKey:
    """An RSA key."""

    n: int
    e: int

    @property
    def bits(self) -> int:
        """Length of the modulus."""
        return self.n.bit_length()

    def verifies(self, signature: bytes, data: bytes, digest: str = "sha256") -> bool:
        """Whether the signature is this key's, over these data."""
        length = (self.bits + 7) // 8
        value = int.from_bytes(signature, "big")
        if len(signature) != length or value >= self.n:
            return False
        told = _DIGEST_INFO[digest] + hashlib.new(digest, data).digest()
        expected = b"\0\1" + b"\xff" * (length - len(told) - 3) + b"\0" + told
        return pow(value, self.e, self.n).to_bytes(length, "big") == expected


CurvePoint = tuple[int, int]


@dataclass(frozen=True)
class Curve:
    """A curve y² = x³ - 3x + b over the integers modulo p, with a generator of the order n."""

    p: int
    b: int
    n: int
    g: CurvePoint

    def add(self, one: "CurvePoint | None", other: "CurvePoint | None") -> "CurvePoint | None":
        """Add two points; None is the point at infinity."""
        if one is None or other is None:
            return other if one is None else one
        (x1, y1), (x2, y2) = one, other
        if x1 == x2 and (y1 + y2) % self.p == 0:
            return None
        rise, run = (3 * x1 * x1 - 3, 2 * y1) if one == other else (y2 - y1, x2 - x1)
        slope = rise * pow(run, -1, self.p)
        x = (slope * slope - x1 - x2) % self.p
        return x, (slope * (x1 - x) - y1) % self.p

    def multiply(self, times: int, point: CurvePoint) -> "CurvePoint | None":
        """Multiply a point. Its time depends on the factor, which is public here."""
        found: CurvePoint | None = None
        power: CurvePoint | None = point
        while times:
            if times & 1:
                found = self.add(found, power)
            power = self.add(power, power)
            times >>= 1
        return found


@dataclass(frozen=True)
class EcKey:
    """A point on a curve."""

    curve: Curve
    point: CurvePoint

    def verifies(self, signature: bytes, data: bytes, digest: str = "sha256") -> bool:
        """Whether the signature is this key's, over these data."""
        try:
            r, s = (part.integer() for part in der.read(signature).parts())
        except ValueError:
            return False
        curve = self.curve
        if not (0 < r < curve.n and 0 < s < curve.n):
            return False
        hashed = hashlib.new(digest, data).digest()
        value = int.from_bytes(hashed, "big") >> max(8 * len(hashed) - curve.n.bit_length(), 0)
        inverse = pow(s, -1, curve.n)
        found = curve.add(
            curve.multiply(value * inverse % curve.n, curve.g), curve.multiply(r * inverse % curve.n, self.point)
        )
        return found is not None and found[0] % curve.n == r


Key = RsaKey | EcKey

#: P-256 and P-384 (FIPS 186-4, D.1.2) by the content of their OIDs.
_CURVES = {
    "2a8648ce3d030107": Curve(
        2**256 - 2**224 + 2**192 + 2**96 - 1,
        0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
        0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
        (
            0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
            0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
        ),
    ),
    "2b81040022": Curve(
        2**384 - 2**128 - 2**96 + 2**32 - 1,
        0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF,
        0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
        (
            0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
            0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
        ),
    ),
}


def read_key(info: der.Value) -> Key:
    """Read a SubjectPublicKeyInfo. Raises Broken for other keys than RSA, P-256 and P-384."""
    algorithm, bits = _pair(info)
    kind, *parameters = algorithm.parts()
    if kind.oid() == _RSA:
        n, e = (part.integer() for part in _pair(der.read(bits.bits())))
        if not MIN_BITS <= n.bit_length() <= MAX_BITS or not (3 <= e < 2**32 and e % 2) or n % 2 == 0 or n < 0:
            raise Broken(f"the key is not RSA of {MIN_BITS} to {MAX_BITS} bits")
        return RsaKey(n, e)
    curve = _CURVES.get(parameters[0].oid()) if kind.oid() == _EC and len(parameters) == 1 else None
    point = bits.bits()
    size = 0 if curve is None else (curve.p.bit_length() + 7) // 8
    if curve is None or len(point) != 1 + 2 * size or point[0] != 4:
        raise Broken("the key is neither RSA nor an uncompressed point of P-256 or P-384")
    x, y = int.from_bytes(point[1 : 1 + size], "big"), int.from_bytes(point[1 + size :], "big")
    if x >= curve.p or y >= curve.p or (y * y - x**3 + 3 * x - curve.b) % curve.p:
        raise Broken("the key is not a point of its curve")
    return EcKey(curve, (x, y))


def _pair(value: der.Value) -> tuple[der.Value, der.Value]:
    parts = value.parts()
    if len(parts) != 2:
        raise Broken("DER: a pair has other than two parts")
    return parts[0], parts[1]
