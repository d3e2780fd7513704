-- Tenants release mails that the cap of a day put off, and send a mail again; clients see the address before the first try.
GRANT SELECT ON mail_recipients TO fe_front;
GRANT SELECT, INSERT, UPDATE (address) ON mail_recipients TO fe_portal;
GRANT UPDATE (run_at) ON mails TO fe_front;
GRANT INSERT (tenant_id, subject, stage, environment, run_at, address) ON mails TO fe_portal;
GRANT UPDATE (stage, run_at, attempt, deaths, entered_at, finished_at, last_error, address, counted_on) ON mails
TO fe_portal;
