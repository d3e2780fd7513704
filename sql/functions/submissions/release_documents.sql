-- Take out of the database the documents of a month that `archive_places` finds in the archive, and return the numbers
-- of documents that left and that stayed. Rows without a place stay. The partition stays attached, so no other month
-- waits; readers of this month wait while it is emptied. Safe to repeat.
CREATE OR REPLACE FUNCTION release_documents(p_month date, OUT released bigint, OUT kept bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    child text := 'submission_documents_' || to_char(p_month, 'YYYY_MM');
    spared text := child || '_spared';
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('ensure_month'));
    PERFORM set_config('lock_timeout', '2s', true);
    EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', child);
    EXECUTE format('CREATE TABLE %I AS
                    SELECT d.* FROM %I AS d
                     WHERE NOT EXISTS (SELECT 1 FROM archive_places AS p
                                        WHERE p.tenant_id = d.tenant_id AND p.submission_id = d.submission_id)',
                   spared, child);
    GET DIAGNOSTICS kept = ROW_COUNT;
    EXECUTE format('SELECT count(*) - $1 FROM %I', child) INTO released USING kept;
    IF released > 0 THEN
        EXECUTE format('TRUNCATE %I', child);
        EXECUTE format('INSERT INTO %I SELECT * FROM %I', child, spared);
    END IF;
    EXECUTE format('DROP TABLE %I', spared);
END
$$;

GRANT EXECUTE ON FUNCTION release_documents TO fe_operator;
