import fe.store as _store  # noqa: F401  (before psycopg is imported anywhere; see there)
