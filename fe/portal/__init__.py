"""The portal: pages for the people of a tenant and for operators, over the same capabilities as the API and the CLI."""
