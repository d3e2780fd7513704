-- Emit the events of submissions that have just ended, in the transaction that booked them. NULL among the submissions:
-- skip.
CREATE OR REPLACE FUNCTION tell_outcomes(p_tenants bigint[], p_submissions uuid[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    ended record;
BEGIN
    IF NOT EXISTS (
        SELECT 1
          FROM webhook_endpoints AS e
         WHERE e.tenant_id = ANY (p_tenants) AND e.enabled AND e.removed_at IS NULL
           AND e.events && ARRAY['submission.accepted', 'submission.conditional', 'submission.rejected',
                                 'submission.error']) THEN
        RETURN;
    END IF;
    FOR ended IN
        SELECT s.*, k.kind
          FROM unnest(p_tenants, p_submissions) AS b (tenant_id, submission_id)
          JOIN submissions AS s ON s.tenant_id = b.tenant_id AND s.submission_id = b.submission_id
          JOIN (VALUES ('Aceptado', 'submission.accepted'), ('Aceptado Condicional', 'submission.conditional'),
                       ('Rechazado', 'submission.rejected'), ('error', 'submission.error')) AS k (status, kind)
            ON k.status = s.status
         WHERE webhook_wanted(s.tenant_id, s.environment, k.kind)
    LOOP
        PERFORM tell_webhooks(
            ended.tenant_id, webhook_id(p_at, ended.kind || ' ' || ended.submission_id::text), ended.environment,
            ended.kind, ended.submission_id::text, p_at,
            (SELECT row_to_json(told)::text
               FROM (SELECT ended.kind AS event, webhook_moment(p_at) AS "sentAt",
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
                                            (SELECT m.metadata
                                               FROM submission_metadata AS m
                                              WHERE m.tenant_id = ended.tenant_id
                                                AND m.submission_id = ended.submission_id) AS metadata
                                    ) AS submission) AS submission) AS told),
            NULL);
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION tell_outcomes TO fe_front, fe_portal, fe_worker, fe_operator;
