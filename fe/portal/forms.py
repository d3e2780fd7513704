"""Values that forms carry beside their fields."""

from hashlib import sha256
from json import dumps
from typing import Any


def digest(shown: Any) -> str:
    """Name the state that a form was made from, so that it is refused once that has changed."""
    return sha256(dumps(shown, default=str, sort_keys=True).encode()).hexdigest()[:32]
