"""What the portal keeps: people, their sessions, and what they changed."""
