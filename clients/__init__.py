"""The clients of the API, and what makes their cores from its description."""
