"""Who moves submissions: a handler for each stage, and how what they come to is written. The engine is fe/queue."""
