"""From taxpayer to taxpayer (authority.md#receivers): finding the other party of a receipt, and what it answers."""
