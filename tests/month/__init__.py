"""Tests of fe/month."""
