"""A tenant's mail settings over HTTP."""

from functools import partial

from fe.accounts import mail as accounts
from fe.accounts.audited_changes import Author
from fe.accounts.mail import BadMailSetting, MailForbidden
from fe.clock import Clock
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.models.mail_settings import MAIL_SETTINGS, MailSettingsAnswer, MailSettingsRequest
from fe.http.openapi.described_errors import errors
from fe.http.request_bodies import read_body
from fe.http.routes.types import About, Route
from fe.store.postgres.db import Database
from fe.store.records import mail
from fe.store.records.mail import MailChoice


class MailSettingsHandlers:
    """The handlers of /mail."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def show(self, call: Call) -> ApiReply:
        """Show the tenant's settings."""
        tenant_id = call.identity.tenant_id
        return ApiReply(200, MAIL_SETTINGS.write(_shown(await self._db.run_for(tenant_id, mail.choice_of))))

    async def put(self, call: Call) -> ApiReply:
        """Set all of the tenant's settings."""
        body = read_body(MailSettingsRequest, await call.body())
        caller = call.identity
        settings = None
        try:
            if body.enabled or body.replyTo is not None:
                settings = accounts.check_settings(
                    reply_to=body.replyTo or "", language=body.language, documents=body.documents, a_day=body.aDay
                )
            by = Author(caller.api_key_id, self._clock(), "api")
            change = partial(accounts.change_settings, enabled=body.enabled)
            choice, _ = await self._db.transact_for(caller.tenant_id, change, by, caller.tenant_id, settings)
        except BadMailSetting as bad:
            raise ApiError(400, bad.text.after(bad.field)) from None
        except MailForbidden as forbidden:
            raise ApiError(409, forbidden.text) from None
        answer = _shown(choice)
        if body.ignored:
            answer["warnings"] = serialize_problems(body.ignored, call.language)
        return ApiReply(200, MAIL_SETTINGS.write(answer))


def _shown(choice: MailChoice) -> MailSettingsAnswer:
    settings = choice.settings
    return {
        "enabled": choice.enabled,
        "replyTo": None if settings is None else settings.reply_to,
        "language": "es" if settings is None else settings.language,
        "documents": "attached" if settings is None else settings.documents,
        "aDay": 2000 if settings is None else settings.a_day,
        "aDayAllowed": choice.limit,
    }


def mail_routes(prefix: str, mail: MailSettingsHandlers) -> tuple[Route, ...]:
    """Make the routes of {prefix}/mail."""
    group, path = "Account", f"{prefix}/mail"
    return (
        Route(
            "GET",
            path,
            "mail:read",
            mail.show,
            About("getMail", "Show your mail settings", group, {200: (MAIL_SETTINGS,)}),
        ),
        Route(
            "PUT",
            path,
            "mail:write",
            mail.put,
            About(
                "putMail",
                "Set your mail settings",
                group,
                {200: (MAIL_SETTINGS,)},
                MailSettingsRequest,
                errors=errors("bad-mail-setting", "mail-forbidden"),
            ),
            4 * 1024,
        ),
    )
