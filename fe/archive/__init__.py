"""Archive packages: the evidence of a tenant's receipts in signed, chained files; no I/O but the given file, no clock.

docs/reference/archive-format.md specifies the format.
"""
