"""The reason why a submission failed, in the client's language: `response.error`.

New failures have both languages, `error` and `errorEs`. Those that functions of the database or earlier releases wrote
have English alone; their Spanish is made from the fields beside it. Without such fields the stored sentence is shown,
which is part of the chain of evidence.
"""

from typing import Any, cast

from fe.ecf.texts import Language

_GIVEN_UP = "given up by an operator"


def say_response(response: dict[str, Any] | None, language: Language) -> dict[str, Any] | None:
    """Give a submission's `response` with `error` in the language. `errorEs` and problems' Spanish stay beside it."""
    if response is None or language == "en" or not isinstance(response.get("error"), str):
        return response
    return {**response, "error": _in_spanish(response)}


def _in_spanish(response: dict[str, Any]) -> str:
    error = cast(str, response["error"])
    if response.get("status") == "dead_letter":
        return f"sin éxito hasta ahora, y nada se ha perdido; lo revisa el operador del servicio ({error})"
    if error.startswith(_GIVEN_UP):
        return f"abandonado por el operador del servicio{error.removeprefix(_GIVEN_UP)}"
    if isinstance(stored := response.get("errorEs"), str):
        return stored
    if holder := response.get("otherTaxLogId"):
        return f"el número ya es de otro envío, taxLogId {holder}: no se envió nada"
    if isinstance(problems := response.get("problems"), list) and problems:
        return _of_problems(problems)
    return error


def _of_problems(problems: list[Any]) -> str:
    first = problems[0] if isinstance(problems[0], dict) else {}
    where = f"{first['path']}: " if first.get("path") else ""
    more = f" (y {len(problems) - 1} más)" if len(problems) > 1 else ""
    return f"{where}{first.get('messageEs') or first.get('message') or ''}{more}"
