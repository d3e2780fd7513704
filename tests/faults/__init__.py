"""The fault suite: the whole service as processes, broken on purpose, and one checker that judges what is left."""

import fe.store  # noqa: F401  (before psycopg, see there)
