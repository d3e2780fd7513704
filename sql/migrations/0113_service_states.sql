-- States of the service's parts, for its public status page (docs/operations/watching.md): one row for each period in
-- which a part stayed in one state. They belong to no tenant.
CREATE TABLE service_states (
    part text COLLATE "C" NOT NULL,
    began_at timestamptz NOT NULL,
    -- The latest measurement that found the part so.
    seen_at timestamptz NOT NULL,
    -- 0: well; 1: it waits for the authority; 2: degraded; 3: down.
    severity smallint NOT NULL,
    CONSTRAINT service_states_pk PRIMARY KEY (part, began_at),
    CONSTRAINT service_states_severity_known CHECK (severity BETWEEN 0 AND 3),
    CONSTRAINT service_states_in_order CHECK (seen_at >= began_at)
) WITH (fillfactor = 70);

GRANT SELECT, INSERT, UPDATE ON service_states TO fe_front, fe_reception;
GRANT SELECT, INSERT, UPDATE, DELETE ON service_states TO fe_worker;
GRANT SELECT ON service_states TO fe_operator, fe_readonly;
