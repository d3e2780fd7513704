-- Mails that gave up: counted every quarter of a minute for the gauge, and few beside the mails at rest.
CREATE INDEX mails_given_up ON mails (finished_at) WHERE stage = 'failed';
