-- The portal deletes links for a forgotten password when they are over, as it does sessions.
GRANT DELETE ON password_resets TO fe_portal;
