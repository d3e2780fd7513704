"""The document domain: pure functions over values. No I/O, no clock, imports nothing of ours."""
