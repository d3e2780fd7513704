"""Calls to addresses that others chose: webhooks, and the systems of counterparties. Behind a wall of our own."""
