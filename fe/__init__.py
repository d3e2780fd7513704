"""fe issues electronic fiscal receipts (e-CF) to the Dominican tax authority on behalf of its tenants."""

#: Version of the API and of its clients.
RELEASE = "0.1.0"

try:
    from fe._built import VERSION  # type: ignore[import-not-found]  # made by setup.py for a wheel
except ModuleNotFoundError:
    VERSION = f"{RELEASE}.dev0+checkout"

__version__ = VERSION
