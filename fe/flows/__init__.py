"""What must happen together: each flow is one decision, and one transaction where it writes."""
