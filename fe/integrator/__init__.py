"""Commands of an integrator: API calls with a stored key, and offline checks of documents.

Nothing here uses the database or the service's settings: it runs on any machine that reaches the API.
"""
