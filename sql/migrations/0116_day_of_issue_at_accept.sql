-- The functions that accept take the day of issue too. The release before calls them without it.
DROP FUNCTION IF EXISTS accept_submission(
    bigint, uuid, timestamptz, text, text, text, bytea, text, text, text, text, text, text, text, uuid, bytea, text);
DROP FUNCTION IF EXISTS accept_submissions(
    bigint[], uuid[], timestamptz[], text[], text[], text[], bytea[], text[], text[], text[], text[], text[], text[],
    text[], uuid[], bytea[], text[], text, interval[]);
\ir ../functions/submissions/accept_submission.sql
\ir ../functions/submissions/accept_submissions.sql
