"""Error for unusable settings."""


class ConfigError(Exception):
    """A setting is missing or wrong; the message names it and the expected value."""
