"""Verifier of archive packages: the standard library alone, so that it can be run as one file, far from fe.

docs/reference/archive-format.md has the checks. Imports within are relative: `fe/archive/program.py` packs these files.
"""
