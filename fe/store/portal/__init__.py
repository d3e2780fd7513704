"""Records of the portal: people, sessions, and changes."""
