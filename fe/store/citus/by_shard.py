"""Bookings on the nodes: the functions of the migrations, copied for each shard under the shard's names.

A statement of a booking that the coordinator sends is planned there, sent, and planned again on the node. So a node
does the whole booking of all its shards in one call. For each shard it calls a copy of the function that a single
server has, in which each table is the shard's own. A node makes these copies at `fe migrate`. For a shard that was
moved or split, the node that has it now makes them at the first call. A call passes through

* `book_received_batch`, on the coordinator: divides the rows by node (`book_received_batch_alone`, if that is all);
* `book_received_batch_by_way`: sends the rows of one node to it;
* `book_received_batch_there`, on the node: enters its shards, and divides the rows by shard;
* `book_received_batch_in_shard`: has a branch for each shard of the node, whose call is planned once;
* `book_received_batch_102008`: the copy for that shard.

A `_by_way` function that carries documents or answers to them has a branch for each way, too. If the way is a
parameter, Citus writes all parameters into the statement, where they are twice as long and parsed as SQL. If the way is
a constant of the statement, Citus passes parameters on as they are. The other functions have no branches: a session
keeps some 30 kB for each branch that it took.

A copy (shard_functions.py) leaves out all reads and writes of the coordinator's tables. The coordinator does them
before the call, or after it in the same transaction.
"""

from collections.abc import Iterator, Sequence

from psycopg import sql

from fe.store.citus.shard_functions import ASKED, CALLED, ON_NODES, ONLY_READS, Function, functions, template
from fe.store.postgres.functions import FOLDER
from fe.store.postgres.statements import statements as statements_of

#: Parameters that carry documents. A batch of them goes to a node joined into one value, with their lengths, since an
#: array of them would be written and read three times.
_DOCUMENTS = frozenset({"p_original", "p_originals", "p_signed", "p_sent"})
#: A function with one of these parameters has a branch for each way.
_LONG = _DOCUMENTS | {"p_replies", "p_responses"}

#: Sends a call to the node of a way.
_SENT = "SELECT {call} INTO answer FROM anchors AS a WHERE a.anchor = {way};"

#: The coordinator's part before the call: it grants no leases for paused rows.
_BEFORE = {
    "book_received_batch": "p_leases := leases_unless_paused(p_tenants, p_environments, p_leases);",
    # Of which environment each is, the node knows.
    "book_signed_batch": """
    IF EXISTS (SELECT FROM pauses AS p WHERE p.tenant_id = 0 OR p.tenant_id = ANY (p_tenants)) THEN
        p_leases := array_fill(NULL::interval, ARRAY[cardinality(p_leases)]);
    END IF;
    -- Whose number is another's has ended, and they may be told of it.
    IF EXISTS (SELECT FROM webhook_endpoints AS e WHERE e.tenant_id = ANY (p_tenants)) THEN
        PERFORM stand_together();
    END IF;""",
}
#: The coordinator's part after the call: it announces the outcomes that were booked.
_AFTER = {
    "book_failure_batch": "PERFORM tell_outcomes(p_tenants, answers, p_at);",
    "book_signed_batch": """
    IF 'taken' = ANY (answers) THEN
        PERFORM tell_outcomes(
            p_tenants,
            ARRAY(SELECT CASE WHEN b.answer = 'taken' THEN b.subject END
                    FROM unnest(p_subjects, answers) WITH ORDINALITY AS b (subject, answer, n)
                   ORDER BY b.n),
            p_at);
    END IF;""",
    "record_event_batch": """
    IF p_kind IN ('verdict', 'error') THEN
        PERFORM tell_outcomes(p_tenants, p_submissions, p_at);
    END IF;""",
}

#: Drops functions of an earlier release. With other parameters they would exist beside their successors; with another
#: return type they would prevent them. Functions of triggers belong to the migrations, whatever their names end with.
_DROP_FORMER = r"""
    DO $$
    DECLARE
        one text;
    BEGIN
        FOR one IN
            SELECT p.oid::regprocedure::text
              FROM pg_proc AS p
             WHERE p.pronamespace = current_schema()::regnamespace AND p.prorettype <> 'trigger'::regtype
               AND (p.proname LIKE '%\_there' OR p.proname LIKE '%\_alone' OR p.proname LIKE '%\_in\_shard'
                    OR p.proname LIKE '%\_by\_way'
                    OR p.proname IN ('may_go_on_batch', 'input_of', 'shards_of', 'enter_shard', 'require_enabled',
                                     'claim_lane', 'claim_here', 'claim_on_node', 'said_of', 'rows_of', 'of_shard',
                                     'hold_shards', 'shard_entered', 'forget_shard_functions'))
        LOOP
            EXECUTE 'DROP FUNCTION ' || one;
        END LOOP;
    END
    $$
"""

#: Functions that may stand alone, as a statement of their own: all rows that they write lie on one node, which commits
#: them before it answers. A function that writes on the coordinator afterwards must not be in this list.
ALONE = (
    "accept_submission",
    "accept_submissions",
    "claim_with_input",
    "book_signed_batch",
    "intend_to_send_batch",
    "book_received_batch",
    "book_verdict_batch",
)


def statements() -> Iterator[str]:
    """Yield the statements that install the templates, and the callers of the copies on nodes and coordinator.

    Install `senders` afterwards, which send the calls to the nodes.
    """
    known = functions()
    quoted = ", ".join(sql.Literal(template(function)).as_string(None) for function in known.values())
    yield _DROP_FORMER
    yield f"CREATE OR REPLACE FUNCTION shard_functions() RETURNS text[] LANGUAGE sql IMMUTABLE RETURN ARRAY[{quoted}]"
    callers = {name: _in_shard(known[name]) for name in (*ON_NODES, *ASKED, *CALLED)}
    told = ", ".join(
        f"ARRAY[{', '.join(sql.Literal(text).as_string(None) for text in (name, *parts))}]"
        for name, parts in callers.items()
    )
    yield f"CREATE OR REPLACE FUNCTION shard_callers() RETURNS text[] LANGUAGE sql IMMUTABLE RETURN ARRAY[{told}]"
    for name, (whole, _) in callers.items():
        yield whole.replace("{{branches}}", "")
        yield f"GRANT EXECUTE ON FUNCTION {name}_in_shard TO fe_front, fe_portal, fe_worker, fe_operator"
    for name in (*CALLED, *ASKED):
        yield _on_node(known[name])
        yield f"GRANT EXECUTE ON FUNCTION {name}_there TO fe_front, fe_portal, fe_worker, fe_operator"
    for name in CALLED:
        yield _from_here(known[name])
    yield "GRANT EXECUTE ON FUNCTION decide_batch TO fe_worker"  # which only Citus has
    for name in ALONE:
        yield _alone(name, _from_here(known[name]) if name in CALLED else _asked_here(name))
        yield f"GRANT EXECUTE ON FUNCTION {name}_alone TO fe_front, fe_portal, fe_worker, fe_operator"


def senders(ways: Sequence[int]) -> Iterator[str]:
    """Yield the functions that send calls to the nodes. `ways`: the known anchors; later ones work without a branch."""
    known = functions()
    for name in (*CALLED, *ASKED):
        yield _by_way(known[name], ways)
        yield f"GRANT EXECUTE ON FUNCTION {name}_by_way TO fe_front, fe_portal, fe_worker, fe_operator"


def _asked_here(name: str) -> str:
    """Return the coordinator's own form of a function."""
    (path,) = FOLDER.glob(f"*/{name}.citus.sql")
    return statements_of(path.read_text(encoding="utf-8"))[0]


def _returned_from_node(function: Function) -> str:
    """Return the type of a node's answer: rows come as a JSON array of objects, and void as a null text."""
    if function.returned.startswith("TABLE"):
        return "jsonb"
    return "text" if function.returned == "void" else function.returned


def _in_shard(function: Function) -> tuple[str, str]:
    """Return the function that calls a shard's copy, with `{{branches}}` left open, and the branch of `{{shard}}`."""
    given = ", ".join(name for name, _ in function.given)
    called = f"{function.name}_{{{{shard}}}}({given})"
    answer = f"RETURN {called}"
    if function.returned.startswith("TABLE"):
        answer = f"RETURN (SELECT jsonb_agg(to_jsonb(a)) FROM {called} AS a)"
    elif function.returned == "void":
        answer = f"PERFORM {called}; RETURN NULL"
    whole = f"""CREATE OR REPLACE FUNCTION {function.name}_in_shard(p_shard bigint, {function.parameters})
RETURNS {_returned_from_node(function)} LANGUAGE plpgsql AS $$
BEGIN
    IF p_shard IS NULL THEN
        RETURN NULL;{{{{branches}}}}
    END IF;
    PERFORM make_shard_functions(p_shard);
    RETURN {function.name}_in_shard(p_shard, {given});
END
$$"""
    return whole, f"\n    ELSIF p_shard = {{{{shard}}}} THEN\n        {answer};"


def _is_joined(name: str, kind: str) -> bool:
    return name in _DOCUMENTS and kind == "bytea[]"


def _by_way(function: Function, ways: Sequence[int]) -> str:
    """Return the function that sends a call to the node of a way. It fails (require_way) if there is no such way."""
    returned = _returned_from_node(function)
    joined = [name for name, kind in function.given if _is_joined(name, kind)]
    declared = "".join(
        f"\n    joined_{name} bytea := joined({name});\n    lengths_{name} int[] := lengths_of({name});"
        for name in joined
    )
    sent = ", ".join(f"joined_{name}, lengths_{name}" if name in joined else name for name, _ in function.given)

    def call(way: str) -> str:
        return _SENT.format(call=f"{function.name}_there(a.anchor, p_shards, {sent})", way=way)

    calls = call("p_way")
    if ways and not _LONG.isdisjoint(name for name, _ in function.given):
        branches = "".join(f"\n    WHEN {way} THEN\n        {call(str(way))}" for way in ways)
        calls = f"CASE p_way{branches}\n    ELSE\n        {calls}\n    END CASE;"
    return f"""CREATE OR REPLACE FUNCTION {function.name}_by_way(p_way bigint, p_shards bigint[], {function.parameters})
RETURNS {returned} LANGUAGE plpgsql AS $$
DECLARE
    answer {returned};{declared}
BEGIN
    {calls}
    PERFORM require_way(FOUND);
    RETURN answer;
END
$$"""


def _on_node(function: Function) -> str:
    """Return the function that does the call in each of p_shards; if null, in the one shard of all the tenants."""
    returned = _returned_from_node(function)
    joined = [name for name, kind in function.given if _is_joined(name, kind)]
    parts = "".join(f"\n    parts_{name} bytea[] := parted({name}, lengths_{name});" for name in joined)
    known = [(f"parts_{name}" if name in joined else name, kind) for name, kind in function.given]
    whole = ", ".join(name for name, _ in known)
    of_shard = ", ".join(f"picked({name}, one.places)" if kind.endswith("[]") else name for name, kind in known)
    start, collected = _collecting(function)
    sent = ", ".join(
        f"{name} bytea, lengths_{name} int[]" if name in joined else f"{name} {kind}" for name, kind in function.given
    )
    tenants = "p_tenants" if any(name == "p_tenants" for name, _ in function.given) else "ARRAY[p_tenant]"
    here, enters = f"shard_entered({tenants})", f"PERFORM enter_these(p_shards, {tenants});"
    if function.name in ONLY_READS:
        here, enters = "get_shard_id_for_distribution_column('outbox', p_tenants[1])", ""
    return f"""CREATE OR REPLACE FUNCTION {function.name}_there(p_way bigint, p_shards bigint[], {sent})
RETURNS {returned} LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    one record;
    part {returned};
    answers {returned}{start};
    done int := 0;{parts}
BEGIN
    IF p_shards IS NULL THEN
        RETURN {function.name}_in_shard({here}, {whole});
    END IF;
    {enters}
    FOR one IN SELECT * FROM shards_here(p_shards) LOOP
        part := {function.name}_in_shard(one.shard, {of_shard});
        {collected}
        done := done + cardinality(one.places);
    END LOOP;
    PERFORM require_way(done = cardinality(p_shards));
    RETURN answers;
END
$$"""


def _alone(name: str, text: str) -> str:
    """Return the form that stands alone (stands_alone): the node commits as it answers, without a transaction block."""
    named = text.replace(f"FUNCTION {name}(", f"FUNCTION {name}_alone(", 1)
    return named.replace(" AS $$", '\nSET fe.alone TO on SET "citus.function_opens_transaction_block" TO off AS $$', 1)


def _collecting(function: Function) -> tuple[str, str]:
    """Return the initial value of the collected answers, and the statement that adds a part at its places."""
    if function.returned == "void":
        return "", ""
    if function.returned in {"jsonb", "bytea[]"}:  # rows, as many as there are
        return " := '[]'" if function.returned == "jsonb" else " := '{}'", "answers := answers || part;"
    if function.returned.startswith("TABLE"):
        placed = "a || jsonb_build_object('place', one.places[(a ->> 'place')::int])"
        added = f"answers || coalesce((SELECT jsonb_agg({placed}) FROM jsonb_array_elements(part) AS a), '[]')"
        return " := '[]'", f"answers := {added};"
    start = f" := array_fill(NULL::{function.returned[:-2]}, ARRAY[cardinality(p_tenants)])"
    return start, "FOR n IN 1 .. cardinality(one.places) LOOP answers[one.places[n]] := part[n]; END LOOP;"


def _from_here(function: Function) -> str:
    """Return the coordinator's function, which sends each node its rows. All arrays of a batch have the same length.

    A batch of one node goes there as it is.
    """
    returned = _returned_from_node(function)
    whole = ", ".join(name for name, _ in function.given)
    picked = ", ".join(f"picked({name}, one.places)" if kind.endswith("[]") else name for name, kind in function.given)
    start, collected = _collecting(function)
    is_void = function.returned == "void"
    return f"""CREATE OR REPLACE FUNCTION {function.name}({function.parameters})
RETURNS {function.returned} LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    one record;
    part {returned};
    answers {returned}{start};
BEGIN
    {_BEFORE.get(function.name, "")}
    FOR one IN SELECT * FROM enter_shards(p_tenants) LOOP
        IF one.places IS NULL THEN
            answers := {function.name}_by_way(one.way, one.shards, {whole});
        ELSE
            part := {function.name}_by_way(one.way, one.shards, {picked});
            {collected}
        END IF;
    END LOOP;
    {_AFTER.get(function.name, "")}
    {"" if is_void else "RETURN answers;"}
END
$$"""
