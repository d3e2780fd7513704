"""`fe agent`: a till's own process that signs and prints while the shop's line is down, and delivers each receipt once.

See docs/agent.md and docs/decisions/agents.md.
"""
