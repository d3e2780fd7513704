"""Two of one clientRequestId at once, without a race: the second looks for the first before that is there."""

import pytest

from fe.issuing.submitting import Submitting
from fe.store.records.submissions import NewSubmission


def not_known_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the next look for a clientRequestId find nothing, as it would have a moment earlier."""
    is_known = Submitting.is_known

    async def too_early(self: Submitting, new: NewSubmission) -> bool:
        monkeypatch.setattr(Submitting, "is_known", is_known)
        return False

    monkeypatch.setattr(Submitting, "is_known", too_early)
