-- On the coordinator, as an administrator, once the migrations have made the roles. The nodes connect to each other as the role that works,
-- so on the nodes each of them may log in: from the other nodes alone, which pg_hba.conf says (README.md). No password is
-- given here: without one, and without a line in pg_hba.conf, no login works.

ALTER ROLE fe_front LOGIN;
ALTER ROLE fe_worker LOGIN;
ALTER ROLE fe_operator LOGIN;
ALTER ROLE fe_readonly LOGIN;
ALTER ROLE fe_reception LOGIN;
ALTER ROLE fe_portal LOGIN;

-- Settings of a session do not reach the nodes behind it; settings of its role do.
ALTER ROLE fe_front SET lock_timeout = '5s';
ALTER ROLE fe_worker SET lock_timeout = '5s';
ALTER ROLE fe_operator SET lock_timeout = '5s';
ALTER ROLE fe_reception SET lock_timeout = '5s';
ALTER ROLE fe_portal SET lock_timeout = '5s';
