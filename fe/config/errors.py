"""What settings that cannot be used raise."""


class ConfigError(Exception):
    """A setting is missing or wrong; the message names it and says what it should be."""
