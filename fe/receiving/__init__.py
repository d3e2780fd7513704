"""What suppliers send: checked, acknowledged, kept; and what buyers say of our receipts (authority.md#receivers)."""
