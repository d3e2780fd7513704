"""The session of a visit: its token in the cookie, its proof in every form, and how long it lasts."""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from fe.accounts.people import hash_token as hash_token
from fe.accounts.people import new_token as new_token
from fe.ecf.texts import Text
from fe.store.portal.people import Person
from fe.store.portal.sessions import SessionRecord

#: How long a session lasts, and without a request of its person.
LIFE = timedelta(hours=12)
IDLE = timedelta(minutes=30)
#: A session that was noted as in use within this time is not noted again.
NOTED = timedelta(minutes=1)
#: How long there is between the first and the second factor, and for coming back from the provider.
HALFWAY = timedelta(minutes=10)
#: How long a confirmation of identity is valid for sensitive pages.
FRESH = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Session:
    """Session of a signed-in person."""

    token: str
    record: SessionRecord
    person: Person

    @property
    def notice(self) -> Text | None:
        """Return the notice that the previous page left."""
        said = self.record.notice
        return Text(said["en"], said["es"]) if isinstance(said, dict) else None


def form_proof(key: bytes, token: str) -> str:
    """Derive the CSRF proof of this browser's forms; it needs the key and is useless elsewhere."""
    return hmac.new(key, token.encode(), "sha256").hexdigest()


def is_proof(keys: Iterable[bytes], token: str, given: str) -> bool:
    """Tell whether a form carries the proof of this browser, made with one of the keys."""
    said = given.encode("utf-8", "replace")
    return any(hmac.compare_digest(form_proof(key, token).encode(), said) for key in keys)
