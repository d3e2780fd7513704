"""A taxpayer's month: its period and the files that the tax authority takes. Pure: no I/O, no clock."""
