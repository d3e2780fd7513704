-- What people look for in the portal: a kind of receipt, what was not accepted, whose certificate, and what a supplier sent.
-- Each page is read off one of these from its newest end, so a page costs the same however long the history is.

CREATE INDEX submissions_of_a_kind ON submissions (tenant_id, environment, ecf_type, submission_id);

-- What somebody has to look at, which is little of all there is.
CREATE INDEX submissions_not_quite_accepted ON submissions (tenant_id, environment, status, submission_id)
WHERE status IN ('Rechazado', 'error', 'Aceptado Condicional');

CREATE INDEX submissions_as_user ON submissions (tenant_id, as_user, submission_id) WHERE as_user IS NOT NULL;

CREATE INDEX submissions_as_user_id ON submissions (tenant_id, as_user_id, submission_id) WHERE as_user_id IS NOT NULL;

CREATE INDEX received_of_an_environment ON received (tenant_id, environment, received_id);

CREATE INDEX received_by_issuer ON received (tenant_id, environment, issuer_rnc, received_id);

CREATE INDEX received_by_number ON received (tenant_id, e_ncf, received_id);

-- What is on its way, and what was given up: only whose it is and since when.
GRANT SELECT (tenant_id, subject, environment) ON outbox TO fe_portal;
GRANT SELECT (tenant_id, subject, environment, died_at) ON dead_letters TO fe_portal;
