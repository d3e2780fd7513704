-- Rates of the additional taxes as operators know them, beside those that a release brings along: the specific taxes
-- are indexed every quarter, and nobody waits for a release for that.

-- One rate of one code (001-039: docs/reference/authority.md#additional-taxes) from a day on. The same for all tenants,
-- read far more than written.
CREATE TABLE excise_rates (
    code text NOT NULL,
    since date NOT NULL,
    -- The last day it is known to hold; NULL: no end is foreseen.
    until date,
    -- Per cent, or pesos per unit of the specific taxes.
    rate numeric NOT NULL,
    set_at timestamptz NOT NULL,
    set_by text NOT NULL,
    CONSTRAINT excise_rates_pk PRIMARY KEY (code, since),
    CONSTRAINT excise_rates_code CHECK (code ~ '^0(0[1-9]|[12][0-9]|3[0-9])$'),
    CONSTRAINT excise_rates_days CHECK (until >= since),
    -- What TasaImpuestoAdicional has room for.
    CONSTRAINT excise_rates_rate CHECK (rate > 0 AND rate < 1000 AND rate = round(rate, 2))
);

GRANT SELECT ON excise_rates TO fe_front, fe_worker, fe_operator, fe_readonly;
GRANT INSERT, UPDATE, DELETE ON excise_rates TO fe_operator;
