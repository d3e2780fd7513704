"""Validate billing terms: prices, currencies and subscriptions."""

import re

#: The processor's id of a subscription.
SUBSCRIPTION = "sub_[A-Za-z0-9]{1,200}"

_PRICE = r"\d{1,8}(\.\d{1,4})?"
#: Currencies without hundredths: amounts here have two decimals.
_NOT_CENTS = frozenset(
    {"BHD", "BIF", "CLP", "DJF", "GNF", "IQD", "ISK", "JOD", "JPY", "KMF", "KRW", "KWD", "LYD", "MGA", "OMR"}
    | {"PYG", "RWF", "TND", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"}
)


def is_price(value: str) -> bool:
    """Return whether a price per emission is valid: 0 to 99999999, with at most four decimals."""
    return value.isascii() and re.fullmatch(_PRICE, value) is not None


def is_currency(value: str) -> bool:
    """Return whether this is the code of a currency with hundredths."""
    return re.fullmatch("[A-Z]{3}", value) is not None and value not in _NOT_CENTS
