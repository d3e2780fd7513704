-- The portal makes a link for a person who forgot the password (fe/portal/reset_mailer.py). It sets passwords already.
GRANT INSERT ON password_resets TO fe_portal;
