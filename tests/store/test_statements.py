"""A file of SQL is cut where its statements end, and nowhere else."""

from fe.store.postgres.statements import statements


def test_statements_semicolon_in_quotes_and_comments_ends_nothing() -> None:
    parts = [
        "SELECT 'it''s; one', \"a;b\" -- no; end\n    FROM t /* nor; here */ WHERE a - 1 / 2 > $1;",
        "CREATE FUNCTION f() RETURNS void AS $body$ BEGIN PERFORM $$;$$; -- don't\nEND; $body$ LANGUAGE plpgsql;",
        "-- belongs to the next\nDO $$ BEGIN NULL; END $$;",
        "SELECT 1",
    ]

    assert statements("\n\n".join(parts)) == parts


def test_statements_without_code_are_left_out() -> None:
    assert statements(";; -- nothing\n/* either */ ;\n") == []
