"""One-time passwords (RFC 6238: SHA-1, six digits, 30 seconds), and the codes for when the device is lost."""

import hashlib
import secrets
from base64 import b32encode
from datetime import datetime, timedelta

import pyotp
import segno

from fe.identifiers import PersonId, TenantId
from fe.secrets.vault import TOTP_PURPOSE, Belongs, Vault
from fe.store.portal import second_factor
from fe.store.postgres.db import Conn

STEP = 30
#: The clocks of people's devices may be off by a step.
_DRIFT = (0, -1, 1)
_ISSUER = "fe"
_SEED_BYTES = 20

CODES = 10
_CODE_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_CODE_LENGTH = 24


def new_seed() -> bytes:
    """Create the seed of a person's one-time passwords."""
    return secrets.token_bytes(_SEED_BYTES)


def encrypt_seed(vault: Vault, person_id: PersonId, seed: bytes) -> bytes:
    """Encrypt a seed for keeping."""
    return vault.encrypt(seed, _belongs(person_id))


def decrypt_seed(vault: Vault, person_id: PersonId, encrypted: bytes) -> bytes:
    """Decrypt a seed. Raises VaultError."""
    return vault.decrypt(encrypted, _belongs(person_id))


def _belongs(person_id: PersonId) -> Belongs:
    # People are of no tenant.
    return Belongs(TenantId(0), str(person_id), TOTP_PURPOSE)


def shown(seed: bytes) -> str:
    """The seed as people type it where there is no camera."""
    return b32encode(seed).decode()


def address(seed: bytes, email: str) -> str:
    """Return the URI for the QR code."""
    return pyotp.TOTP(shown(seed)).provisioning_uri(name=email, issuer_name=_ISSUER)


def picture(seed: bytes, email: str) -> str:
    """Draw the QR code as SVG for a page: a `viewBox` without a size, so that CSS scales it instead of cropping it."""
    code = segno.make(address(seed, email), error="m", micro=False)
    return code.svg_inline(scale=4, border=4, dark="#000", light="#fff", omitsize=True)


def step_of(seed: bytes, given: str, now: datetime) -> int | None:
    """Find the time step of a one-time password, one step early or late; None if it is wrong."""
    password = "".join(given.split())
    if len(password) != 6 or not (password.isascii() and password.isdigit()):
        return None
    made = pyotp.TOTP(shown(seed))
    current = int(now.timestamp()) // STEP
    found = None
    for drift in _DRIFT:
        moment = now + timedelta(seconds=drift * STEP)
        if secrets.compare_digest(made.at(moment), password) and found is None:
            found = current + drift
    return found


async def is_right(conn: Conn, vault: Vault, person_id: PersonId, given: str, now: datetime) -> bool:
    """Take a one-time password, or else a recovery code: each once. Raises VaultError."""
    seed = await second_factor.seed_of(conn, person_id)
    if seed is None or seed.since is None:
        return False
    step = step_of(decrypt_seed(vault, person_id, seed.secret), given, now)
    if step is not None:
        return await second_factor.take_step(conn, person_id, step)
    return await second_factor.use_code(conn, person_id, hash_code(person_id, given), now)


def new_codes() -> list[str]:
    """Make recovery codes, as they are shown: 118 random bits each, so that hashes need no salt and no time."""
    made = ["".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH)) for _ in range(CODES)]
    return ["-".join(code[start : start + 4] for start in range(0, _CODE_LENGTH, 4)) for code in made]


def hash_code(person_id: PersonId, code: str) -> bytes:
    """Hash a recovery code for keeping, however it is typed."""
    letters = "".join(character for character in code.lower() if character.isalnum())
    return hashlib.sha256(f"{person_id}:{letters}".encode("utf-8", "replace")).digest()
