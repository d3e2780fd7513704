"""Webhooks: what is told, how it is signed and sent, and to which addresses and with which headers at all."""
