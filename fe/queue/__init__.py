"""The engine that moves work: claims, tries, outcomes, leases, circuits. It knows no submission."""
