"""Settings and their checks."""

from fe.config.addresses import Network, host_of, is_loopback, is_real_authority, origin_of, read_networks, read_origins
from fe.config.env_file import apply_env_file, set_by_env_file, without_env_files
from fe.config.errors import ConfigError
from fe.config.keys import named_keys, read_key_file, require
from fe.config.settings import IN_FILES, Settings, load_settings

__all__ = [
    "IN_FILES",
    "ConfigError",
    "Network",
    "Settings",
    "apply_env_file",
    "host_of",
    "is_loopback",
    "is_real_authority",
    "load_settings",
    "named_keys",
    "origin_of",
    "read_key_file",
    "read_networks",
    "read_origins",
    "require",
    "set_by_env_file",
    "without_env_files",
]
