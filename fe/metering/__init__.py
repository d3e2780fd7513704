"""What is counted, and what it costs: usage by day, prices, months, charges."""
