"""The authority's answers as values: what each service says when it answers at all (authority.md#session to #queries).

Live and documented shapes are both read: codes as numbers or text, `encf` or `eNCF`, one object or an array of one,
JSON or XML. A reader raises Unreadable and nothing else; it never guesses where an answer contradicts itself.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from fe.authority.bodies import Body, BodyForm, Message, alone, flag, fold, member, messages, number, text
from fe.authority.estado import ESTADO_BY_CODE, Estado
from fe.identifiers import TrackId

_ROOTS = frozenset(
    {
        "respuestaautenticacion",
        "respuestarecepcion",
        "respuesta",
        "respuestaconsultatrackid",
        "respuestaconsultaestado",
        "trackingdetalle",
        "arrayoftrackingdetalle",
        "respuestaaprobacioncomercial",
        "respuestaanulacionrango",
    }
)
_TRY_AGAIN = re.compile(r"intent(ar|e|elo) (de )?nuev(a vez|o|amente)")
#: Answers of the voiding service in the technical description (authority.md#voiding).
_VOIDED = re.compile(r"\banuladas correctamente\b")
_VOIDED_BUT_SOME = re.compile(r"\banuladas\b.*\bexcep(?:cion de|to)\b")
_NOT_VOIDED = re.compile(
    r"\bno fue posible anular\b|\bhan sido utilizadas\b|\bno es valid[ao]\b|\bno valido\b|\bes mayor al?\b"
)
_TRACK_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{1,8192}")


class Unreadable(ValueError):
    """An answer that is none of the shapes its service may give, or says two things at once."""

    def __init__(self, reason: str, raw: dict[str, Any]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.raw = raw


class Contradiction(Unreadable):
    """An answer whose code says one thing and whose words say another."""


class AnotherDocument(Unreadable):
    """A valid answer about another document than the queried one."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The authority has the document and will judge it: ask for the verdict by `track_id`."""

    track_id: TrackId
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The authority's verdict on a document.

    `number_used` is `secuenciaUtilizada` (False: the number may be used again), None where the service does not say.
    `received_at` is as the authority wrote it (live: US style, local time). `raw` is JSON of bounded size, fit to be
    stored and shown.
    """

    estado: Estado
    messages: tuple[Message, ...]
    track_id: TrackId | None
    e_ncf: str | None
    number_used: bool | None
    received_at: str | None
    raw: dict[str, Any]

    @property
    def try_again(self) -> bool:
        """Whether this "Rechazado" is no judgement: the authority's own validation broke down, it says (code 004)."""
        return self.estado is Estado.REJECTED and says_try_again(self.messages)

    @property
    def duplicate(self) -> bool:
        """Whether the number is said to be used already: perhaps by the first sending of this very document."""
        return self.estado is Estado.REJECTED and says_duplicate(self.messages)


@dataclass(frozen=True, slots=True)
class Tracking:
    """One of the submissions the authority has seen of an e-NCF; `estado` is None if its word is none of the five."""

    track_id: TrackId
    estado: Estado | None
    received_at: str | None


@dataclass(frozen=True, slots=True)
class GrantedToken:
    """A session token, and how long it lasts from the moment it was asked for."""

    token: str = field(repr=False)
    lifetime: timedelta


@lru_cache(maxsize=64)  # five words, and what else is said there
def _letters_only(words: str) -> str:
    return re.sub("[^a-z]", "", fold(words))


_ESTADOS = {_letters_only(estado.value): estado for estado in Estado}

# --- Words --------------------------------------------------------------------------------------------------------


def says_try_again(remarks: tuple[Message, ...]) -> bool:
    """Whether the authority asks for another try. Told by the text: 4 alone is "sequence exhausted" elsewhere."""
    return any(_TRY_AGAIN.search(fold(remark.valor)) for remark in remarks)


def says_duplicate(remarks: tuple[Message, ...]) -> bool:
    """Whether a number is said to be used: 1209 as seen live, 3 as the interface has it (authority.md#used-numbers)."""
    return any(remark.number in (3, 1209) for remark in remarks)


def says_not_found(body: Body) -> bool:
    """Whether the authority says in its own words that it knows nothing of what was asked."""
    if body.form in (BodyForm.EMPTY, BodyForm.HTML):
        return False
    estado = text(member(body.value, "estado"))
    words = [estado] if estado else [remark.valor for remark in messages(body)]
    return any("no encontrad" in fold(each) for each in words)


def _estado(value: dict[str, Any], body: Body) -> Estado:
    word, code = text(member(value, "estado")), number(member(value, "codigo"))
    by_word = _ESTADOS.get(_letters_only(word)) if word else None
    by_code = ESTADO_BY_CODE.get(code) if code is not None else None
    if by_word and by_code and by_word is not by_code:
        raise Contradiction(f"estado and codigo disagree: {by_word} and {code}", body.raw)
    estado = by_word if word else by_code
    if estado is None:
        raise Unreadable("the answer has no estado that we know", body.raw)
    return estado


def _is_data(body: Body) -> bool:
    return body.form is BodyForm.DATA and (body.root is None or body.root.lower() in _ROOTS)


def _one(body: Body) -> Body:
    """The body of an answer about one thing: its value is an object."""
    one = alone(body)
    if _is_data(one) and isinstance(one.value, dict):
        return one
    raise Unreadable("the answer is not an object of the authority's", body.raw)


# --- Documents ----------------------------------------------------------------------------------------------------


def read_receipt(body: Body) -> Receipt | None:
    """Read the answer of e-CF reception (section 4); None if it carries no usable trackId."""
    try:
        body = _one(body)
    except Unreadable:
        return None
    track_id = _track_id(body.value)
    return Receipt(track_id, body.raw) if track_id else None


def _track_id(value: Any) -> TrackId | None:
    track_id = text(member(value, "trackid"))
    if track_id is None or not _TRACK_ID.fullmatch(track_id) or not track_id.strip("0-"):
        return None  # all zeros is how .NET writes the UUID that was never set
    return TrackId(track_id)


def read_verdict(body: Body) -> Verdict:
    """Read the answer of RFCE reception, and of the queries by trackId, by e-NCF and by summary (sections 4 to 6)."""
    body = _one(body)
    return _verdict(body, body.value, _estado(body.value, body))


def read_verdict_about(body: Body, *, e_ncf: str | None, track_id: TrackId | None = None) -> Verdict:
    """Read the verdict of one document; an answer that names another is unreadable. None is not compared."""
    verdict = read_verdict(body)
    for asked, answered in ((e_ncf, verdict.e_ncf), (track_id, verdict.track_id)):
        if asked is not None and answered is not None and asked.lower() != answered.lower():
            raise AnotherDocument("it is about another document", body.raw)
    return verdict


def read_approval(body: Body) -> Verdict:
    """Read the answer of approval (authority.md#approval): 1 approved, 2 rejected, "01" and "02" too.

    What other codes mean is not published; without a word that settles it, such an answer is unreadable.
    """
    body = _one(body)
    word = fold(text(member(body.value, "estado", "nombre")) or "")
    by_word = None
    if re.search(r"\b(aprobad|aceptad)[ao]s?\b", word):
        by_word = Estado.ACCEPTED
    elif re.search(r"\brechazad[ao]s?\b", word):
        by_word = Estado.REJECTED
    return _settled(body, by_word)


def read_voiding(body: Body) -> Verdict:
    """Read the answer of voiding (authority.md#voiding): by its words, and where they are others, as an approval.

    Its codes are not published. Where it leaves numbers out it is accepted with remarks: they are in `messages`.
    """
    body = _one(body)
    name = text(member(body.value, "nombre")) or ""
    said = (name, " ".join(message.valor for message in messages(body)))
    by_word = next((estado for words in said if (estado := _voiding(fold(words))) is not None), None)
    return read_approval(body) if by_word is None else _settled(body, by_word)


def _voiding(words: str) -> Estado | None:
    if _VOIDED_BUT_SOME.search(words):
        return Estado.CONDITIONAL
    if _NOT_VOIDED.search(words):
        return Estado.REJECTED
    return Estado.ACCEPTED if _VOIDED.search(words) else None


def _settled(body: Body, by_word: Estado | None) -> Verdict:
    """The verdict that words and code say together. Raises Unreadable where neither does, or they disagree."""
    code = number(member(body.value, "codigo"))
    by_code = {1: Estado.ACCEPTED, 2: Estado.REJECTED}.get(-1 if code is None else code)
    if by_code and by_word and (by_code is Estado.REJECTED) is not (by_word is Estado.REJECTED):
        raise Contradiction(f"estado and codigo disagree: {by_word} and {code}", body.raw)
    estado = by_word or by_code
    if estado is None:
        raise Unreadable("neither codigo nor estado says approved or rejected", body.raw)
    return _verdict(body, body.value, estado)


def _verdict(body: Body, value: dict[str, Any], estado: Estado) -> Verdict:
    e_ncf = text(member(value, "encf", "ncfelectronico"))
    return Verdict(
        estado=estado,
        messages=messages(body),
        track_id=_track_id(value),
        e_ncf=e_ncf.upper() if e_ncf else None,
        number_used=flag(member(value, "secuenciautilizada")),
        received_at=text(member(value, "fecharecepcion")),
        raw=body.raw,
    )


def read_trackings(body: Body) -> list[Tracking]:
    """Read the trackIds of an e-NCF (row 7): an array, one object, or the body that says there is none."""
    if member(body.value, "trackid") is None and not isinstance(body.value, list) and says_not_found(body):
        return []
    if not _is_data(body):
        raise Unreadable("the answer is not a list of trackIds", body.raw)
    entries = body.value
    if isinstance(entries, dict) and member(entries, "trackid") is None:  # XML: the list is wrapped in an element
        entries = next((below for below in entries.values() if isinstance(below, dict | list)), entries)
    found = []
    for entry in entries if isinstance(entries, list) else [entries]:
        track_id = _track_id(entry)
        if track_id is None:
            raise Unreadable("an entry has no trackId", body.raw)
        estado = _ESTADOS.get(_letters_only(text(member(entry, "estado")) or ""))
        found.append(Tracking(track_id, estado, text(member(entry, "fecharecepcion"))))
    return found


# --- The directory ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """Where an electronic taxpayer is reached: bases that the paths of authority.md#receivers come after.

    They are what a stranger had written down: anything may stand there. None where nothing does. `authentication` is
    where tokens for both are given, if they ask for any.
    """

    rnc: str
    reception: str | None
    approval: str | None
    authentication: str | None = None


def read_directory(body: Body, *, rnc: str, stands_in: bool = False) -> DirectoryEntry | None:
    """Read the entry of a taxpayer (row 12): an array or one object; None if there is none.

    With `stands_in` an entry of another RNC serves where it is the only one: testecf returns the simulated counterparty
    for every RNC.
    """
    if not _is_data(body) or not isinstance(body.value, list | dict):
        raise Unreadable("the answer is not an entry of the directory", body.raw)
    entries = [_entry(value) for value in (body.value if isinstance(body.value, list) else [body.value])]
    known = [entry for entry in entries if entry is not None]
    if len(known) < len(entries):
        raise Unreadable("an entry of the directory names no RNC", body.raw)
    mine = [entry for entry in known if entry.rnc == rnc]
    return mine[0] if mine else known[0] if stands_in and len(known) == 1 else None


def _entry(value: Any) -> DirectoryEntry | None:
    rnc = text(member(value, "rnc"))
    if rnc is None:
        return None
    reception, approval, optional = (
        text(member(value, f"url{name}")) for name in ("recepcion", "aceptacion", "opcional")
    )
    return DirectoryEntry(rnc, reception or None, approval or None, optional or None)


# --- Sessions -----------------------------------------------------------------------------------------------------

#: For how long a token is used whose dates cannot be read. Should it end sooner, a 401 says so.
_CAUTIOUS = timedelta(minutes=5)
_LONGEST = timedelta(hours=12)


def read_token(body: Body, now: datetime) -> GrantedToken:
    """Read the answer of validate-seed (section 3).

    The lifetime is `expira` less `expedido`, both by the authority's clock, so that ours may be wrong; without
    `expedido`, `expira` less `now`. The token never appears in an Unreadable.
    """
    if not _is_data(body) or not isinstance(body.value, dict):
        raise Unreadable("the answer of the token service is not an object", {})
    token = member(body.value, "token")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token.strip()):
        raise Unreadable("the answer of the token service has no token", {})
    expires, issued = _instant(member(body.value, "expira")), _instant(member(body.value, "expedido"))
    lifetime = expires - (issued or now) if expires else _CAUTIOUS
    return GrantedToken(token.strip(), min(lifetime, _LONGEST) if lifetime > timedelta(0) else _CAUTIOUS)


def _instant(value: Any) -> datetime | None:
    words = text(value)
    if words is None:
        return None
    try:
        # .NET writes seven fractional digits where Python reads six.
        moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", words))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
