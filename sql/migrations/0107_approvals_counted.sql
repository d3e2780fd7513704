-- Answers to suppliers that the authority accepted: received receipts are counted by decision without reading a row of
-- them (fe/store/records/received.py). A receipt has no entry here.
CREATE INDEX submissions_that_approve ON submissions (tenant_id, submission_id)
WHERE root = 'ACECF' AND status IN ('Aceptado', 'Aceptado Condicional');
