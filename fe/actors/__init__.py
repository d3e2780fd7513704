"""The actors that move submissions: a handler for each stage, and the writers of outcomes. The engine is fe/queue."""
