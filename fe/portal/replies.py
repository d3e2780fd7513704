"""Replies of pages, and refusals."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from fe.ecf.texts import Text

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. `body` is HTML unless `headers` name another content type; `stream` is sent in its place."""

    status: int
    body: bytes
    headers: Headers = field(default=())
    stream: AsyncGenerator[bytes, None] | None = None


class Refused(Exception):
    """The page cannot be had, or what was sent cannot be done; nothing was changed. People read the message."""

    def __init__(self, status: int, message: Text) -> None:
        super().__init__(status, message.en)
        self.status = status
        self.message = message


NOT_FOUND = Text("There is no such page, or you may not see it.", "Esta página no existe o usted no puede verla.")
NOT_ALLOWED = Text("Your role does not allow this.", "Su función no le permite hacer esto.")
STALE_FORM = Text(
    "This form is from another session: open the page again and repeat what you did.",
    "Este formulario es de otra sesión: abra la página de nuevo y repita lo que hizo.",
)
RESUMED = Text(
    "You signed in again after opening this form, so nothing was done. Your text is here: check it, and "
    "press the button again.",
    "Usted inició sesión de nuevo después de abrir este formulario; por eso no se hizo nada. Lo que escribió está "
    "aquí: revíselo y presione el botón otra vez.",
)
CHANGED_MEANWHILE = Text(
    "This was changed meanwhile: check the current state, and repeat your change if it is still right.",
    "Cambió mientras tanto: revise el estado actual y repita su cambio si todavía es correcto.",
)
SENT_TWICE = Text("This form was sent before: it was done once.", "Este formulario ya se envió: se hizo una sola vez.")
TOO_LARGE = Text("The form is too large.", "El formulario es demasiado grande.")
_CROWDED = Text("There is too much to do at the moment.", "El servicio está sobrecargado en este momento.")
_UNAVAILABLE = Text(
    "The service cannot reach its database now.", "El servicio no alcanza su base de datos en este momento."
)
_READING = Text("Load the page again in a moment.", "Cargue la página de nuevo en un momento.")
_NOT_BEGUN = Text("Nothing was changed; try again in a moment.", "Nada cambió; intente de nuevo en un momento.")
_BEGUN = Text(
    "It is not known whether what you sent was done. Load this page again in a moment, so that your browser sends it "
    "again: it is done once.",
    "No se sabe si lo que envió se hizo. Cargue esta página de nuevo en un momento, para que su navegador lo envíe "
    "otra vez: se hace una sola vez.",
)
_INTERNAL = Text(
    "Something went wrong on our side; it is in the log under the number below.",
    "Ocurrió un error de nuestro lado; quedó registrado con el número de abajo.",
)


def crowded(*, sent: bool, begun: bool) -> Text:
    """Say that there is no room now; `sent` and `begun` as in `unavailable`."""
    return _not_now(_CROWDED, sent=sent, begun=begun)


def unavailable(*, sent: bool, begun: bool) -> Text:
    """Say that the database is away. `sent`: a form was sent; `begun`: its work was begun, and may have been done."""
    return _not_now(_UNAVAILABLE, sent=sent, begun=begun)


def internal(*, begun: bool) -> Text:
    """Say that there is a fault of ours; `begun` as in `unavailable`."""
    return Text(f"{_INTERNAL.en} {_BEGUN.en}", f"{_INTERNAL.es} {_BEGUN.es}") if begun else _INTERNAL


def _not_now(why: Text, *, sent: bool, begun: bool) -> Text:
    # A page may follow a completed form, so the text says nothing about changes.
    then = _BEGUN if begun else _NOT_BEGUN if sent else _READING
    return Text(f"{why.en} {then.en}", f"{why.es} {then.es}")


def too_slow(seconds: float) -> Text:
    """Say that what was sent did not arrive in time."""
    return Text(
        f"What you sent did not arrive within {seconds:g} seconds. Nothing was changed; send it again.",
        f"Lo que envió no llegó en {seconds:g} segundos. Nada cambió; envíelo de nuevo.",
    )


def not_found() -> Refused:
    """Answer 404, also for pages of other companies."""
    return Refused(404, NOT_FOUND)


def redirect(to: str) -> Reply:
    """Send the browser to another page of ours with GET."""
    if not to.startswith("/") or to.startswith("//") or "\\" in to:
        raise ValueError("redirects stay in the portal")
    return Reply(303, b"", (("Location", to),))
