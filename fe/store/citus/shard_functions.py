"""Templates that copy functions of `sql/functions` for each shard, with the names of the shard's tables.

by_shard.py calls the copies, and does the coordinator's part.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fe.store.citus.tables import DISTRIBUTED
from fe.store.postgres.functions import function_set

#: Functions that only shards have.
_OF_A_SHARD = sorted(Path(__file__).parent.glob("shard/*.sql"))

#: Functions that a node has for each of its shards: those that the coordinator calls,
CALLED = (
    "complete_batch",
    "book_retry_batch",
    "book_dead_letter_batch",
    "book_failure_batch",
    "intend_to_send_batch",
    "book_received_batch",
    "book_doubt_batch",
    "book_resend_batch",
    "book_processing_batch",
    "book_signed_batch",
    "decide_batch",
    "record_event_batch",
)
#: those whose answers are rows, which Citus' own forms call,
ASKED = (
    "accept_submission",
    "accept_submissions",
    "claim_batch",
    "input_to_sign",
)
#: of these, those that write nothing and so enter no shard;
ONLY_READS = frozenset({"input_to_sign"})
#: those that each node calls for its shards,
ON_NODES = ("due_batch", "floors_batch")
#: and those that they call.
_BETWEEN = (
    "record_event",
    "draw_number",
    "begin_next_range",
    "refuse_to_draw",
    "number_is_free",
    "voiding_of",
    "first_free_number",
    "take_returned_number",
    "sequence_to_draw_from",
    "return_numbers",
    "close_sends_batch",
    "close_intents_batch",
    "announce_batch",
    "hold_number_batch",
    "holders_of_batch",
    "book_number_taken_batch",
    "book_verdict_batch",
    "may_go_on_batch",
    "note_ends",
    "freeze_month",
)

#: The coordinator's part of a function, left out on a node.
_TELLING = re.compile(r"PERFORM (?:tell_outcomes|begin_deliveries)\([^;]*\);")
_PAUSES = "pauses AS p"
_NO_PAUSES = "(SELECT 0::bigint, ''::text WHERE false) AS p (tenant_id, environment)"

#: The query of the signatories of a tenant, left out on a node.
_SIGNATORIES = re.compile(r"RETURN QUERY\s+SELECT 0, .*?;", re.DOTALL)

#: The coordinator has checked the submitter; the node only has to name the tenant whose rows it writes.
_NAMING = re.compile(r"\bname_(?:tenant|submitter)\(")

_FUNCTION = re.compile(
    r"^CREATE (?:OR REPLACE )?FUNCTION (?P<name>\w+)\((?P<given>[^()]*)\)\s+"
    r"RETURNS (?P<returned>TABLE \([^()]*\)|\w+(?:\[\])?)\s+(?P<body>LANGUAGE plpgsql[^;]*?AS \$\$.*?\n\$\$);$",
    re.MULTILINE | re.DOTALL,
)
_GIVEN = re.compile(r"(\w+) (\w+)\s*(\[\])?")
_TABLE = re.compile(rf"\b(FROM|JOIN|UPDATE|INTO|USING)(\s+)({'|'.join(DISTRIBUTED)})\b")
_CALL = re.compile(rf"\b({'|'.join((*CALLED, *ASKED, *ON_NODES, *_BETWEEN))})\(")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of `sql/functions`."""

    name: str
    #: Names and types of the parameters.
    given: tuple[tuple[str, str], ...]
    returned: str
    body: str

    @property
    def parameters(self) -> str:
        """The parameters as SQL declares them."""
        return ", ".join(f"{name} {kind}" for name, kind in self.given)


def functions() -> Mapping[str, Function]:
    """Read the functions that a node has for each shard, from `sql/functions` and from the folder `shard`."""
    texts = [*(file.text for file in function_set(0).files), *(path.read_text("utf-8") for path in _OF_A_SHARD)]
    found = {match["name"]: match for text in texts for match in _FUNCTION.finditer(text)}
    return {name: _read(found[name]) for name in (*_BETWEEN, *ON_NODES, *ASKED, *CALLED)}


def _read(match: re.Match[str]) -> Function:
    parameters = match["given"].replace("DEFAULT NULL", "")
    given = tuple((one[1], one[2] + (one[3] or "")) for one in _GIVEN.finditer(parameters))
    return Function(match["name"], given, match["returned"], match["body"])


def template(function: Function) -> str:
    """Return the function as a template for a shard: `{{name}}` stands for a table or a function of the shard."""
    body = _SIGNATORIES.sub("", _TELLING.sub("NULL;", function.body))
    body = _NAMING.sub("named_here(", body).replace(_PAUSES, _NO_PAUSES)
    body = _CALL.sub(r"{{\1}}(", _TABLE.sub(r"\1\2{{\3}}", body))
    return f"CREATE FUNCTION {{{{{function.name}}}}}({function.parameters}) RETURNS {function.returned} {body}"
