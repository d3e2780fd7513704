"""Usage and billing: usage by day, prices, months and charges."""
