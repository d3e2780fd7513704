"""What an integrator does from a terminal: calls of the public API with a stored key, and looking at documents.

Nothing here knows the database or the service's settings: it runs on any machine that reaches the API.
"""
