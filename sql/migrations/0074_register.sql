-- The authority's public register of taxpayers (docs/decisions/register.md). A load adds a generation and names it current.

CREATE TABLE taxpayers (
    generation int NOT NULL,
    rnc text COLLATE "C" NOT NULL,
    name text NOT NULL,
    trade_name text NOT NULL,
    activity text NOT NULL,
    status text NOT NULL,
    regime text NOT NULL,
    CONSTRAINT taxpayers_pk PRIMARY KEY (generation, rnc)
);

-- At most one row: no row, no register.
CREATE TABLE taxpayer_register (
    one boolean NOT NULL,
    generation int NOT NULL,
    rows int NOT NULL,
    loaded_at timestamptz NOT NULL,
    loaded_by text NOT NULL,
    CONSTRAINT taxpayer_register_pk PRIMARY KEY (one),
    CONSTRAINT taxpayer_register_is_one CHECK (one)
);

GRANT SELECT ON taxpayers, taxpayer_register TO fe_front, fe_portal, fe_readonly;
GRANT SELECT, INSERT, DELETE ON taxpayers TO fe_operator;
GRANT SELECT, INSERT, UPDATE ON taxpayer_register TO fe_operator;
