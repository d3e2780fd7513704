-- Body of the event about a received document, as the document was on arrival.
CREATE OR REPLACE FUNCTION received_event_body(p_tenant bigint, p_received uuid, p_at timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    body text;
BEGIN
    SELECT row_to_json(told)::text INTO body
      FROM (SELECT 'received_ecf' AS event,
                   webhook_moment(p_at) AS "sentAt",
                   (SELECT row_to_json(shown)
                      FROM (SELECT r.received_id AS id, r.e_ncf AS encf, 'E' || r.ecf_type AS "tipoEcf",
                                   r.issuer_rnc AS "rncEmisor", r.buyer_rnc AS "rncComprador", r.total AS "montoTotal",
                                   r.issued_on AS "fechaEmision", 'pending' AS "approvalStatus",
                                   webhook_moment(r.received_at) AS "receivedAt") AS shown) AS "receivedEcf",
                   ltrim(convert_from(a.document, 'UTF8'), chr(65279)) AS xml
              FROM received AS r
              JOIN acknowledgements AS a
                ON a.tenant_id = r.tenant_id AND a.environment = r.environment AND a.digest = r.digest AND a.reason = 0
             WHERE r.tenant_id = p_tenant AND a.tenant_id = p_tenant AND r.received_id = p_received) AS told;
    RETURN body;
END
$$;

GRANT EXECUTE ON FUNCTION received_event_body TO fe_reception, fe_worker;
