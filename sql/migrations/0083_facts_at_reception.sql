-- Reception keeps what lists, months and the 606 show of a receipt: read off its document once.
ALTER POLICY own_tenant ON received_amounts TO fe_front, fe_portal, fe_reception;
GRANT SELECT, INSERT ON received_amounts TO fe_reception;

-- Computed again, with what the 606 needs.
TRUNCATE received_amounts;
