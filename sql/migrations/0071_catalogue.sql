-- A tenant's customers and products (docs/decisions/catalogue.md), of all environments.

-- `search` has the words that an entry is found by, folded, each after a blank: the name's first, so it is the order, too.
CREATE TABLE customers (
    tenant_id bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    rnc text COLLATE "C",
    email text,
    phone text,
    address text,
    municipality text,
    province text,
    receipt_type text,
    search text COLLATE "C" NOT NULL,
    source text NOT NULL,
    version int NOT NULL,
    changed_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    -- The newest receipt of this customer; NULL: none that the portal issued.
    used_at timestamptz,
    CONSTRAINT customers_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT customers_id_form CHECK (id ~ '^[0-9A-Za-z][0-9A-Za-z._~-]{0,63}$'),
    CONSTRAINT customers_name_length CHECK (length(name) BETWEEN 1 AND 150),
    CONSTRAINT customers_rnc_form CHECK (rnc ~ '^([0-9]{9}|[0-9]{11})$'),
    CONSTRAINT customers_texts_length CHECK (
        length(email) <= 254 AND length(phone) <= 20 AND length(address) <= 100 AND length(search) <= 250
    ),
    CONSTRAINT customers_source_known CHECK (source IN ('person', 'import', 'api', 'remembered'))
);

CREATE INDEX customers_in_order ON customers (tenant_id, search, id);
CREATE INDEX customers_by_rnc ON customers (tenant_id, rnc) WHERE rnc IS NOT NULL;
CREATE INDEX customers_by_use ON customers (tenant_id, used_at) WHERE used_at IS NOT NULL;

CREATE TABLE products (
    tenant_id bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    code text COLLATE "C",
    unit text,
    price numeric(20, 4),
    -- Whether ITBIS is in the price.
    price_has_itbis boolean,
    itbis text,
    kind text,
    additional_taxes text[] NOT NULL,
    search text COLLATE "C" NOT NULL,
    source text NOT NULL,
    version int NOT NULL,
    changed_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    -- The newest receipt with it; NULL: none that the portal issued.
    used_at timestamptz,
    CONSTRAINT products_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT products_id_form CHECK (id ~ '^[0-9A-Za-z][0-9A-Za-z._~-]{0,63}$'),
    CONSTRAINT products_name_length CHECK (length(name) BETWEEN 1 AND 80),
    CONSTRAINT products_texts_length CHECK (length(code) BETWEEN 1 AND 35 AND length(search) <= 250),
    CONSTRAINT products_price_not_negative CHECK (price >= 0),
    CONSTRAINT products_price_says_itbis CHECK ((price IS NULL) = (price_has_itbis IS NULL)),
    CONSTRAINT products_itbis_known CHECK (itbis IN ('18', '16', '0', 'exempt')),
    CONSTRAINT products_kind_known CHECK (kind IN ('good', 'service')),
    CONSTRAINT products_additional_taxes_bounded CHECK (cardinality(additional_taxes) <= 20),
    CONSTRAINT products_source_known CHECK (source IN ('person', 'import', 'api', 'remembered'))
);

CREATE INDEX products_in_order ON products (tenant_id, search, id);
CREATE INDEX products_by_code ON products (tenant_id, code) WHERE code IS NOT NULL;
CREATE INDEX products_by_use ON products (tenant_id, used_at) WHERE used_at IS NOT NULL;

ALTER TABLE customers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON customers TO fe_operator USING (true);
CREATE POLICY every_tenant_read ON customers FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON customers TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE, DELETE ON customers TO fe_front, fe_portal;
GRANT SELECT ON customers TO fe_operator, fe_readonly;

ALTER TABLE products ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON products TO fe_operator USING (true);
CREATE POLICY every_tenant_read ON products FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON products TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE, DELETE ON products TO fe_front, fe_portal;
GRANT SELECT ON products TO fe_operator, fe_readonly;
