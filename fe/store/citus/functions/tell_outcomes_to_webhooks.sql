-- Emit the events of ended submissions, one tenant at a time.
CREATE OR REPLACE FUNCTION tell_outcomes_to_webhooks(p_tenants bigint[], p_submissions uuid[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan AS $$
DECLARE
    ended record;
    kind text;
    metadata jsonb;
BEGIN
    FOR n IN 1 .. coalesce(cardinality(p_submissions), 0) LOOP
        CONTINUE WHEN p_submissions[n] IS NULL OR NOT EXISTS (
            SELECT 1
              FROM webhook_endpoints AS e
             WHERE e.tenant_id = p_tenants[n] AND e.enabled AND e.removed_at IS NULL
               AND e.events && ARRAY['submission.accepted', 'submission.conditional', 'submission.rejected',
                                     'submission.error']);
        SELECT s.* INTO ended
          FROM submissions AS s
         WHERE s.tenant_id = p_tenants[n] AND s.submission_id = p_submissions[n];
        kind := CASE ended.status::text
            WHEN 'Aceptado' THEN 'submission.accepted'
            WHEN 'Aceptado Condicional' THEN 'submission.conditional'
            WHEN 'Rechazado' THEN 'submission.rejected'
            WHEN 'error' THEN 'submission.error'
        END;
        CONTINUE WHEN kind IS NULL OR NOT webhook_wanted(p_tenants[n], ended.environment, kind);
        -- By itself: a statement that reads a distributed table runs on its node, where there are no webhooks.
        SELECT m.metadata INTO metadata
          FROM submission_metadata AS m
         WHERE m.tenant_id = p_tenants[n] AND m.submission_id = p_submissions[n];
        PERFORM tell_webhooks(
            ended.tenant_id, webhook_id(p_at, kind || ' ' || ended.submission_id::text), ended.environment,
            kind, ended.submission_id::text, p_at,
            (SELECT row_to_json(told)::text
               FROM (SELECT kind AS event, webhook_moment(p_at) AS "sentAt",
                            (SELECT row_to_json(submission)
                               FROM (SELECT ended.submission_id AS "taxLogId",
                                            ended.client_request_id AS "clientRequestId",
                                            ended.environment AS environment, ended.status AS status,
                                            ended.e_ncf AS "eNCF", ended.number_fate AS "numberFate",
                                            ended.track_id AS "trackId", ended.security_code AS "securityCode",
                                            ended.qr_code_url AS "qrCodeUrl", ended.response AS response,
                                            webhook_moment(p_at) AS "updatedAt",
                                            to_char(ended.signed_at AT TIME ZONE INTERVAL '-04:00',
                                                    'YYYY-MM-DD"T"HH24:MI:SS-04:00') AS "fechaHoraFirma",
                                            'E' || ended.ecf_type AS "tipoEcf", ended.total AS "montoTotal",
                                            ended.itbis AS "totalITBIS", ended.buyer_rnc AS "rncComprador",
                                            ended.buyer_name AS "razonSocialComprador",
                                            ended.issued_on AS "fechaEmision",
                                            ended.security_code IS NOT NULL
                                            AND ended.status NOT IN ('Rechazado', 'error')
                                            AS "readyToPrint",
                                            metadata
                                    ) AS submission) AS submission) AS told),
            NULL);
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION tell_outcomes_to_webhooks TO fe_front, fe_portal, fe_worker, fe_operator;
