"""The queue engine: claims, tries, outcomes, leases, circuits. It does not know what the work is about."""
