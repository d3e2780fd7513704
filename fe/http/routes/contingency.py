"""The mode of a tenant over HTTP (docs/contingency.md)."""

from collections.abc import Sequence

from fe.accounts import modes as flow
from fe.accounts.audited_changes import Author
from fe.accounts.modes import ModeRefused
from fe.clock import Clock
from fe.contingency import Mode
from fe.ecf.problems import Problem
from fe.ecf.texts import Text
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.messages import must_be
from fe.http.models.contingency import MODE, ModeRequest, serialize_mode
from fe.http.openapi.described_errors import errors
from fe.http.request_bodies import read_body
from fe.http.routes.types import About, Route
from fe.store.postgres.db import Conn, Database
from fe.store.records import modes, tenants

_MODES = Text("`normal` or `offline`", "`normal` u `offline`")
_BY_PEOPLE = Text(
    "this mode was recorded in the portal, and is ended there", "este modo se registró en el portal y se termina ahí"
)
_BODY = 4 * 1024


class ContingencyHandlers:
    """The handlers of /contingency."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def show(self, call: Call) -> ApiReply:
        """Show the mode in force."""
        return await self._shown(call)

    async def _shown(self, call: Call, ignored: Sequence[Problem] = ()) -> ApiReply:
        caller = call.identity
        found = await self._db.run_for(caller.tenant_id, flow.current, caller.environment)
        answer = serialize_mode(found, caller.environment)
        if ignored:
            answer["warnings"] = serialize_problems(ignored, call.language)
        return ApiReply(200, MODE.write(answer))

    async def change(self, call: Call) -> ApiReply:
        """Go offline, or back to normal. Setting the mode that is set already changes nothing."""
        caller = call.identity
        asked = read_body(ModeRequest, await call.body())
        if asked.mode not in (Mode.NORMAL, Mode.OFFLINE):
            raise ApiError(400, must_be("mode", _MODES))
        by = Author(str(caller.api_key_id), self._clock(), "api")

        async def make(conn: Conn) -> None:
            tenant = await tenants.locked(conn, caller.tenant_id)
            assert tenant is not None
            now_in = await modes.current(conn, caller.tenant_id, caller.environment)
            if (Mode.NORMAL if now_in is None else now_in.mode) == asked.mode:
                return
            if now_in is not None and now_in.mode is not Mode.OFFLINE:
                raise ApiError(409, _BY_PEOPLE)
            await flow.change(conn, by, tenant, caller.environment, Mode(asked.mode), asked.reason)

        try:
            await self._db.transact_for(caller.tenant_id, make)
        except ModeRefused as refused:
            raise ApiError(400, refused.text) from None
        return await self._shown(call, asked.ignored)


def contingency_routes(prefix: str, contingency: ContingencyHandlers) -> tuple[Route, ...]:
    """Make the routes of {prefix}/contingency."""
    group, path = "Contingency", f"{prefix}/contingency"
    return (
        Route(
            "GET",
            path,
            "invoices:read",
            contingency.show,
            About("getMode", "Get the current mode: normal, or a contingency", group, {200: (MODE,)}),
        ),
        Route(
            "POST",
            path,
            "invoices:write",
            contingency.change,
            About(
                "setMode",
                "Set the mode: your own line is down, or back",
                group,
                {200: (MODE,)},
                ModeRequest,
                errors=errors("bad-mode", "mode-of-people"),
                note="Receipts that were signed meanwhile carry the legend of contingency on paper.",
            ),
            _BODY,
        ),
    )
