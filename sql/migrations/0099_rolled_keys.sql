-- A rolled key ends after its overlap.
GRANT UPDATE (expires_at) ON api_keys TO fe_portal, fe_operator;
