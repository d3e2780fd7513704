-- An operator is told what a client calls a submission as often as its number: both find it (fe/store/records/label_lookup.py).

GRANT SELECT ON client_requests TO fe_operator;
