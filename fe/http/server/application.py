"""Make the Quart applications: of the API, of reception, of the portal and of the buyers' page."""

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from quart.routing import QuartRule
from quart_trio import QuartTrio
from werkzeug.routing import Map

from fe.http.server.private_names import require_private_names

require_private_names(QuartRule, "_compile_builder")


class _Rule(QuartRule):
    """A rule without the two functions that `url_for` calls: nothing here does, and compiling them takes 1 ms."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., NoReturn]:
        return _never_built


def _never_built(*_: object, **__: object) -> NoReturn:
    raise NotImplementedError("addresses are not built from rules")


def new_application(name: str, max_body_bytes: int) -> QuartTrio:
    """Make an application without files and without redirects: routes are added to it."""
    app = QuartTrio(name, static_folder=None, template_folder=None)
    app.url_rule_class = _Rule
    app.config["MAX_CONTENT_LENGTH"] = max_body_bytes
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    # Otherwise the router answers a doubled or trailing slash with a redirect, as a page.
    app.url_map.merge_slashes = False
    app.url_map.redirect_defaults = False
    return app


#: A route: its path, its name, its method, and the function that answers.
Rule = tuple[str, str, str, Callable[..., Any]]

#: Compiled routing tables by their routes. Compiling one takes 10 ms, and tests make thousands of applications.
_tables: dict[tuple[tuple[str, str, str, bool], ...], Map] = {}


def add_routes(app: QuartTrio, rules: Iterable[Rule], *, strict_slashes: bool) -> None:
    """Add all routes of an application at once; applications with the same ones share their table."""
    added = list(rules)
    key = tuple((path, name, method, strict_slashes) for path, name, method, _ in added)
    if (table := _tables.get(key)) is not None:
        app.url_map = table
        app.view_functions.update((name, view) for _, name, _, view in added)
        return
    for path, name, method, view in added:
        app.add_url_rule(path, name, view, methods=[method], strict_slashes=strict_slashes)
    _tables[key] = app.url_map
