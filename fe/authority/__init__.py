"""Everything that knows the authority's wire (PROTOCOL.md sections 1 to 6)."""
