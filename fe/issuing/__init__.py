"""Issuing: from what a client hands in to the signed bytes that are sent."""
