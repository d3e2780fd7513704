"""Certification of an issuer by the tax authority: its workbook of test cases, as documents; no I/O, no clock."""
