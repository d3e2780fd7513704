"""Supervised actors that carry submissions from stage to stage: claim, work with no transaction open, book."""
