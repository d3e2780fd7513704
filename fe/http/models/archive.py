"""Archive packages, as clients see them."""

from typing import Annotated, Any

from pydantic import Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.clock import iso
from fe.http.models.response_types import Day, Moment, ResponseModel, closed
from fe.store.records.archive import Package


@closed
class ArchivePackage(TypedDict):
    """A stored package; its manifest names the one before."""

    number: Annotated[int, Field(description="counts from 1 without a gap")]
    day: Annotated[Day, Field(description="the last day whose receipts it may have")]
    receipts: Annotated[int, Field(description="whole receipts, issued and received")]
    additions: Annotated[int, Field(description="receipts of earlier packages with an acknowledgement or approval")]
    bytes: int
    sha256: Annotated[str, Field(description="of the package")]
    manifestSha256: str
    previousManifestSha256: Annotated[str | None, Field(description="null: it is the first")]
    storedAt: Moment
    stampedAt: Annotated[Moment | None, Field(description="time that its time stamp states; null: it has none")]


@closed
class ArchiveList(TypedDict):
    """Packages, newest first."""

    limit: int
    items: list[ArchivePackage]
    nextCursor: Annotated[str | None, Field(description="`cursor` of the next page; null: there is none")]


ARCHIVE = ResponseModel(ArchiveList)


def serialize_package(package: Package) -> Any:
    """Write a stored package for a client."""
    assert package.digest is not None
    assert package.manifest is not None
    assert package.stored_at is not None
    return {
        "number": package.number,
        "day": package.day.isoformat(),
        "receipts": package.receipts,
        "additions": package.additions,
        "bytes": package.bytes,
        "sha256": package.digest.hex(),
        "manifestSha256": package.manifest.hex(),
        "previousManifestSha256": None if package.previous is None else package.previous.hex(),
        "storedAt": iso(package.stored_at),
        "stampedAt": None if package.stamped_at is None else iso(package.stamped_at),
    }
