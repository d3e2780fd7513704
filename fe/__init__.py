"""fe issues electronic fiscal receipts (e-CF) to the Dominican tax authority on behalf of its tenants."""

__version__ = "0.1.0"
