"""Which sentence of the interface document a test proves: `@clause(section, beginning, ...)`."""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])


def clause(section: str, *beginnings: str) -> Callable[[T], T]:
    """Say that this test proves these sentences and table rows of a section, each named by how it begins.

    docs/conformance.md is made of these (python -m tests.http.conformance); a test sees that no sentence is missing.
    """

    def mark(test: T) -> T:
        proved: list[tuple[str, str]] = getattr(test, "__clauses__", [])
        test.__clauses__ = [*((section, beginning) for beginning in beginnings), *proved]  # type: ignore[attr-defined]  # that is what marking is
        return test

    return mark
