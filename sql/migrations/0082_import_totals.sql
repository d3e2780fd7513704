-- Total of a receipt that is to be imported, as it will be issued; NULL: not validated, or it cannot be computed.
ALTER TABLE import_receipts ADD COLUMN total numeric(18, 2);
GRANT UPDATE (total) ON import_receipts TO fe_front, fe_portal;
