"""The number sequences of a tenant, in the environment of the key (interface.md#sequences)."""

from dataclasses import replace
from datetime import date, datetime
from typing import Annotated, Self, cast
from uuid import UUID

from pydantic import ConfigDict, Field, field_validator, model_validator

from fe.accounts import sequences as account_sequences
from fe.accounts.sequences import LARGEST, PREFIX_WORDS, BadSequence, NoSequence, NumberSent
from fe.clock import Clock
from fe.ecf.catalogue import PREFIXES
from fe.ecf.dates import last_day
from fe.ecf.problems import Problem
from fe.ecf.texts import Text
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import Language, serialize_problems
from fe.http.messages import must_be, number_between, say
from fe.http.models.requests import user_id_form
from fe.http.models.responses import DELETED, NUMBER_SEQUENCE, SEQUENCES, NumberSequence, Sequences
from fe.http.parameters import parse_moment
from fe.http.request_bodies import InvalidField, RequestModel, read_body
from fe.identifiers import TenantId
from fe.printing.labels import TITLES
from fe.store.postgres.db import Conn, Database
from fe.store.records import sequences
from fe.store.records.sequences import Change, NextRange, Sequence, sequence_key

_EXPIRY = "a date (YYYY-MM-DD) or a full ISO 8601 timestamp, which means the day it falls on in Santo Domingo"


class GivenAhead(RequestModel):
    """A range that the authority gave ahead."""

    minSequence: Annotated[int, Field(ge=1, le=LARGEST)]
    maxSequence: Annotated[int, Field(ge=1, le=LARGEST)]
    expireAt: Annotated[str | None, Field(description=_EXPIRY)] = None

    @field_validator("expireAt")
    @classmethod
    def _is_a_day(cls, value: str | None) -> str | None:
        return _check_day(value)

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        _check_range(self.minSequence, self.maxSequence)
        return self

    def as_range(self) -> NextRange:
        """The range for the store."""
        last_day = None if self.expireAt is None else _read_day(self.expireAt)
        return NextRange(self.minSequence, self.maxSequence, account_sequences.end_of(last_day))


class _OfSequence(RequestModel):
    """The fields that making and changing a sequence share."""

    minSequence: Annotated[int | None, Field(ge=1, le=LARGEST)] = None
    maxSequence: Annotated[int | None, Field(ge=1, le=LARGEST)] = None
    expireAt: Annotated[str | None, Field(description=_EXPIRY)] = None
    isActive: bool | None = None
    users: Annotated[
        list[str] | None,
        Field(
            max_length=200,
            description="addresses of the users who draw from it when a submission names no sequence (asUser); only of "
            "a sequence with a name; left out: they stay",
        ),
    ] = None

    agentId: Annotated[
        str | None,
        Field(
            description="the agent (`fe agent`) that alone gives its numbers: the service draws none; only of a "
            "sequence with a name. Null with PATCH releases it",
            json_schema_extra={"format": "uuid"},
        ),
    ] = None

    nextRange: Annotated[
        GivenAhead | None,
        Field(
            description="the range that the authority gave ahead: the first draw that finds the own range used "
            "up or expired begins it. Null removes it; left out it stays"
        ),
    ] = None

    _is_an_agent = field_validator("agentId")(user_id_form)

    @property
    def agent_id(self) -> UUID | None:
        """The agent."""
        return UUID(self.agentId) if self.agentId is not None else None

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """The interface's own messages."""
        return {
            "prefix": PREFIX_WORDS,
            "minSequence": number_between("minSequence", 1, LARGEST),
            "maxSequence": number_between("maxSequence", 1, LARGEST),
            "currentSequence": number_between("currentSequence", 1, LARGEST + 1),
            "expireAt": say("expiry-form"),
            "nextRange.minSequence": number_between("nextRange.minSequence", 1, LARGEST),
            "nextRange.maxSequence": number_between("nextRange.maxSequence", 1, LARGEST),
            "nextRange.expireAt": say("expiry-form").after("nextRange"),
            "name": must_be("name", say("sequence-name")),
        }

    @field_validator("expireAt")
    @classmethod
    def _is_a_day(cls, value: str | None) -> str | None:
        return _check_day(value)

    @property
    def sets_next(self) -> bool:
        """Whether the body says what the next range is, or that there is none."""
        return "nextRange" in self.model_fields_set

    @property
    def next_range(self) -> NextRange | None:
        """The next range."""
        return None if self.nextRange is None else self.nextRange.as_range()

    @property
    def last_day(self) -> date | None:
        """The last day it may be used on."""
        return None if self.expireAt is None else _read_day(self.expireAt)


class NewSequence(_OfSequence):
    """A number sequence to create or change; what is left out takes its default, also when there is a sequence already.

    To change only what is named, use `PATCH /ncf/{prefix}`. A prefix has one sequence without a name, and may have
    others with one, for a branch, till or user; two never share a number.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"prefix": "E31", "minSequence": 1, "maxSequence": 5000, "expireAt": "2028-12-31"}]
        }
    )

    prefix: Annotated[str, Field(json_schema_extra={"enum": list(PREFIXES)})]
    minSequence: Annotated[int | None, Field(ge=1, le=LARGEST, json_schema_extra={"default": 1})] = None
    maxSequence: Annotated[int | None, Field(ge=1, le=LARGEST, json_schema_extra={"default": LARGEST})] = None

    name: Annotated[
        str | None, Field(min_length=1, max_length=40, description="of a sequence beside the one without a name")
    ] = None

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, value: str | None) -> str | None:
        if value is not None:
            _check_name(value)
        return value

    @field_validator("prefix")
    @classmethod
    def _is_in_the_catalogue(cls, value: str) -> str:
        if value not in PREFIXES:
            raise InvalidField(PREFIX_WORDS)
        return value

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        _check_range(self.minimum, self.maximum)
        return self

    @property
    def minimum(self) -> int:
        """The first number of the range."""
        return 1 if self.minSequence is None else self.minSequence

    @property
    def maximum(self) -> int:
        """The last number of the range."""
        return LARGEST if self.maxSequence is None else self.maxSequence


class ChangedSequence(_OfSequence):
    """The changes of a sequence; a field that is left out stays as it is. With `expireAt` null, it does not expire."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"isActive": False}, {"currentSequence": 42}]})

    currentSequence: Annotated[
        int | None,
        Field(ge=1, le=LARGEST + 1, description="the next number; it may go back while nothing from there was sent"),
    ] = None

    def as_change(self) -> Change:
        """The changes for the store."""
        sets_expiry = "expireAt" in self.model_fields_set
        return Change(
            minimum=self.minSequence,
            maximum=self.maxSequence,
            next_number=self.currentSequence,
            sets_expiry=sets_expiry,
            expire_at=account_sequences.end_of(self.last_day),
            is_active=self.isActive,
            sets_next=self.sets_next,
            next_range=self.next_range,
        )


def _check_day(value: str | None) -> str | None:
    if value is not None:
        try:
            account_sequences.end_of(_read_day(value))
        except BadSequence:
            raise InvalidField(say("expiry-form")) from None
    return value


def _check_range(minimum: int, maximum: int) -> None:
    try:
        account_sequences.check_range(minimum, maximum)
    except BadSequence as wrong:
        raise InvalidField(wrong.text) from None


def _check_name(name: str) -> None:
    try:
        account_sequences.check_name(name)
    except BadSequence:
        raise InvalidField(must_be("name", say("sequence-name"))) from None


def _read_day(text: str) -> date:
    """The day a date or a timestamp means. Raises BadSequence when it is neither."""
    moment = parse_moment(text)
    if moment is None:
        raise BadSequence(say("expiry-form"))
    try:
        return last_day(moment)
    except OverflowError:  # in Santo Domingo it is a day before the first of the calendar
        raise BadSequence(say("expiry-form")) from None


class Ncf:
    """The handlers of /ncf."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def listed(self, call: Call) -> ApiReply:
        """List every type there is and every sequence that is configured."""
        caller = call.identity
        found = await self._db.run_for(caller.tenant_id, sequences.listed, caller.environment)
        answer: Sequences = {
            "availableTypes": [
                {"code": prefix.code, "name": prefix.name, "nameEs": TITLES[prefix.code.removeprefix("E")]}
                for prefix in PREFIXES.values()
            ],
            "items": [_serialize_sequence(sequence) for sequence in found],
        }
        return ApiReply(200, SEQUENCES.write(answer))

    async def put(self, call: Call) -> ApiReply:
        """Create or change the sequence of a prefix."""
        caller = call.identity
        new = read_body(NewSequence, await call.body())
        now = self._clock()

        async def put(conn: Conn, tenant_id: TenantId) -> Sequence:
            key = sequence_key(new.prefix, new.name)
            if new.agentId is not None:
                await account_sequences.wait_for_voidings(conn, tenant_id, caller.environment, key)
            made = await account_sequences.put(
                conn,
                tenant_id,
                caller.environment,
                key,
                minimum=new.minimum,
                maximum=new.maximum,
                last_day=new.last_day,
                is_active=new.agentId is None and new.isActive is not False,
                now=now,
                agent_id=new.agent_id,
            )
            if new.sets_next and not made.has_begun(new.next_range):
                ahead = Change(sets_next=True, next_range=new.next_range)
                made = await account_sequences.change(
                    conn, tenant_id, caller.environment, key, ahead, now=now, agent_id=new.agent_id
                )
            if new.agentId is not None:
                made = await account_sequences.reserve(conn, tenant_id, caller.environment, key, new.agent_id, now=now)
                await account_sequences.require_none_void(conn, made)
            return await _assigned(conn, made, new, now)

        try:
            sequence = await self._db.transact_for(caller.tenant_id, put, caller.tenant_id)
        except BadSequence as wrong:
            raise ApiError(400, wrong.text) from None
        asked = NextRange(new.minimum, new.maximum, None)
        return ApiReply(200, NUMBER_SEQUENCE.write(self._serialize(sequence, new.ignored, call.language, asked)))

    async def change(self, call: Call) -> ApiReply:
        """Change of a sequence only what is named, and put its next number back where nothing was sent."""
        caller = call.identity
        key = read_key(call)
        changed = read_body(ChangedSequence, await call.body())
        now = self._clock()

        async def change(conn: Conn, tenant_id: TenantId) -> Sequence:
            if "agentId" in changed.model_fields_set:
                await account_sequences.wait_for_voidings(conn, tenant_id, caller.environment, key)
                await account_sequences.reserve(conn, tenant_id, caller.environment, key, changed.agent_id, now=now)
            changes = changed.as_change()
            if changes.next_range is not None:
                found = await sequences.locked(conn, tenant_id, caller.environment, key)
                if found is not None and found.has_begun(changes.next_range):
                    changes = replace(changes, sets_next=False)  # a repeat whose range a draw has begun meanwhile
            made = await account_sequences.change(
                conn, tenant_id, caller.environment, key, changes, now=now, agent_id=changed.agent_id
            )
            await account_sequences.require_none_void(conn, made)
            return await _assigned(conn, made, changed, now)

        try:
            sequence = await self._db.transact_for(caller.tenant_id, change, caller.tenant_id)
        except BadSequence as wrong:
            raise ApiError(400, wrong.text) from None
        except NoSequence as missing:
            raise ApiError(404, missing.text) from None
        except NumberSent as sent:
            raise ApiError(409, sent.text) from None
        return ApiReply(200, NUMBER_SEQUENCE.write(self._serialize(sequence, changed.ignored, call.language)))

    async def delete(self, call: Call) -> ApiReply:
        """Delete the sequence of a prefix; receipts already issued are not touched."""
        caller = call.identity
        key = read_key(call)

        async def delete(conn: Conn, tenant_id: TenantId) -> bool:
            return await account_sequences.delete(conn, tenant_id, caller.environment, key)

        try:
            is_deleted = await self._db.transact_for(caller.tenant_id, delete, caller.tenant_id)
        except BadSequence as wrong:
            raise ApiError(409, wrong.text) from None
        if not is_deleted:
            raise ApiError(404, NoSequence(key).text)
        return ApiReply(200, DELETED.write({"ok": True, "prefix": key[:3]}))

    def _serialize(
        self, sequence: Sequence, ignored: tuple[Problem, ...], language: Language, asked: NextRange | None = None
    ) -> NumberSequence:
        """Show what was just set, with remarks on it and on members of the request that were ignored."""
        fields = _serialize_sequence(sequence)
        if remarks := [*ignored, *account_sequences.remarks(sequence, self._clock(), asked)]:
            fields["warnings"] = serialize_problems(remarks, language)
        return fields


async def _assigned(conn: Conn, made: Sequence, wanted: _OfSequence, now: datetime) -> Sequence:
    if wanted.users is None:
        return made
    return await account_sequences.assign(conn, made.tenant_id, made.environment, made.key, wanted.users, now=now)


def _serialize_sequence(sequence: Sequence) -> NumberSequence:
    return cast(NumberSequence, account_sequences.show(sequence))


def read_prefix(call: Call) -> str:
    """Return the prefix in the path. Raises ApiError (400)."""
    prefix = call.params["prefix"]
    if prefix not in PREFIXES:
        raise ApiError(400, say("no-such-type"))
    return prefix


def read_key(call: Call) -> str:
    """Return the key of the sequence: the prefix in the path, and the name of the query. Raises ApiError (400)."""
    prefix, name = read_prefix(call), call.query().get("name")
    try:
        if name is not None:
            account_sequences.check_name(name)
    except BadSequence:
        raise ApiError(400, must_be("name", say("sequence-name"))) from None
    return sequence_key(prefix, name)
