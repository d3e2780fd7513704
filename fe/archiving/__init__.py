"""The archive: evidence from the database into packages, packages into the store, and the daily check of both."""
