"""The errors of each operation in the description: status, cause and message (described_errors.toml).

A test provokes each of them and compares the words.
"""

from typing import Any

import msgspec

from fe.ecf.data_files import toml_rows


class DescribedError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An error that an operation may give: what causes it, and an example of its message.

    `name` tells it from the others of an operation; it is `code` where none is given.
    """

    code: str
    status: int
    when: str
    message: str
    name: str = ""
    problems: tuple[dict[str, Any], ...] = ()

    @property
    def example(self) -> dict[str, Any]:
        """The body of such an answer."""
        body = {"message": self.message, "statusCode": self.status}
        return body | {"problems": list(self.problems)} if self.problems else body


_ERRORS = toml_rows("http/openapi/described_errors.toml", DescribedError)


def errors(*codes: str, **values: object) -> tuple[DescribedError, ...]:
    """Return the errors of these codes, with values in place of their braces."""
    found = (_ERRORS[code] for code in codes)
    return tuple(
        msgspec.structs.replace(
            one, name=(one.name or one.code).format_map(values), message=one.message.format_map(values)
        )
        for one in found
    )


OF_ALL = errors("fault-of-ours", "overloaded")
OF_QUERIES = errors("parameter-twice")


def of_tokens(scope: str) -> tuple[DescribedError, ...]:
    """Those of a route that asks for a token with a scope."""
    named = errors("no-scope", scope=scope, scope_name=scope.replace(":", "-"))
    return (*errors("no-token", "old-token", "revoked-key"), *named, *errors("too-many"))


def of_bodies(largest: int | None) -> tuple[DescribedError, ...]:
    """The errors of a route that reads a body of at most `largest` bytes; None: the limit of the settings."""
    maximum = 1024 * 1024 if largest is None else largest
    return errors("no-object", "slow-body", "large-body", "media-type", maximum=maximum)
