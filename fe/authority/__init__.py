"""Everything that knows the authority's wire (authority.md#hosts to #queries)."""
