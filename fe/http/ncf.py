"""The number sequences of a tenant, in the environment of the key (interface.md, "NCF sequence")."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from fe.clock import Clock
from fe.ecf.catalogue import PREFIXES
from fe.ecf.ids import new_id
from fe.http.errors import ApiError
from fe.http.parameters import iso, parse_moment
from fe.http.reading import Envelope, read_body
from fe.http.wire import Call, Reply
from fe.store import sequences
from fe.store.db import Database
from fe.store.sequences import Sequence

LARGEST = 9_999_999_999
_NUMBER_WORDS = f"must be a whole number from 1 to {LARGEST}"


class NewSequence(Envelope):
    """A number sequence to create or change."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"prefix": "E31", "minSequence": 1, "maxSequence": 5000, "expireAt": "2028-12-31"}]
        }
    )

    prefix: Annotated[str, Field(json_schema_extra={"enum": list(PREFIXES)})]
    minSequence: Annotated[int | None, Field(ge=1, le=LARGEST, json_schema_extra={"default": 1})] = None
    maxSequence: Annotated[int | None, Field(ge=1, le=LARGEST, json_schema_extra={"default": LARGEST})] = None
    expireAt: Annotated[str | None, Field(description="YYYY-MM-DD or a full ISO 8601 timestamp")] = None
    isActive: bool | None = None

    @classmethod
    def words(cls) -> dict[str, str]:
        """The interface's own messages."""
        return {
            "prefix": f"prefix must be a valid e-CF type: one of {', '.join(PREFIXES)}",
            "minSequence": f"minSequence {_NUMBER_WORDS}",
            "maxSequence": f"maxSequence {_NUMBER_WORDS}",
            "expireAt": "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp",
        }

    @field_validator("prefix")
    @classmethod
    def _is_in_the_catalogue(cls, value: str) -> str:
        if value not in PREFIXES:
            raise ValueError("not a prefix")
        return value

    @field_validator("expireAt")
    @classmethod
    def _is_a_moment(cls, value: str | None) -> str | None:
        if value is not None and parse_moment(value) is None:
            raise ValueError("not a moment")
        return value

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError("maximum sequence must be greater or equal to the minimum")
        return self

    @property
    def minimum(self) -> int:
        """The first number of the range."""
        return 1 if self.minSequence is None else self.minSequence

    @property
    def maximum(self) -> int:
        """The last number of the range."""
        return LARGEST if self.maxSequence is None else self.maxSequence

    @property
    def expires(self) -> datetime | None:
        """The moment of expiry; a date alone is good to its end in UTC, which is the same date in Santo Domingo."""
        return None if self.expireAt is None else parse_moment(self.expireAt, end_of_day=True)


class Ncf:
    """The handlers of /ncf."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def listed(self, call: Call) -> Reply:
        """List every type there is and every sequence that is configured."""
        caller = call.identity
        found = await self._db.run_for(caller.tenant_id, sequences.listed, caller.environment)
        return Reply(
            200,
            {
                "availableTypes": [{"code": prefix.code, "name": prefix.name} for prefix in PREFIXES.values()],
                "items": [show_sequence(sequence) for sequence in found],
            },
        )

    async def put(self, call: Call) -> Reply:
        """Create or change the sequence of a prefix."""
        caller = call.identity
        new = read_body(NewSequence, await call.body())
        now = self._clock()
        sequence = await self._db.run_for(
            caller.tenant_id,
            sequences.put,
            caller.environment,
            new.prefix,
            new_id=new_id(now),
            minimum=new.minimum,
            maximum=new.maximum,
            expire_at=new.expires,
            is_active=new.isActive is not False,
            at=now,
        )
        return Reply(200, show_sequence(sequence))

    async def delete(self, call: Call) -> Reply:
        """Delete the sequence of a prefix; receipts already issued are not touched."""
        caller = call.identity
        prefix = call.params["prefix"]
        if prefix not in PREFIXES:
            raise ApiError(400, "invalid e-CF type")
        if not await self._db.run_for(caller.tenant_id, sequences.delete, caller.environment, prefix):
            raise ApiError(404, f"no NCF sequence exists for the prefix {prefix}")
        return Reply(200, {"ok": True, "prefix": prefix})


def show_sequence(sequence: Sequence) -> dict[str, Any]:
    """Show a sequence: numbers as strings, because a range reaches 9999999999."""
    return {
        "id": str(sequence.sequence_id),
        "type": sequence.prefix,
        "prefix": sequence.prefix,
        "description": PREFIXES[sequence.prefix].name,
        "minSequence": str(sequence.min_number),
        "maxSequence": str(sequence.max_number),
        "currentSequence": str(sequence.current_number),
        "isActive": sequence.is_active,
        "expireAt": iso(sequence.expire_at) if sequence.expire_at is not None else None,
    }
