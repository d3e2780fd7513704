"""Keep secrets from core dumps, debuggers, child processes, and roles that do not need them."""

import ctypes
import os
import resource
import sys
from collections.abc import Sequence

#: prctl(2): whether processes of the same user may dump, trace or read this one through /proc.
_PR_SET_DUMPABLE = 4

#: Variables that a process of `--role http` must not have.
KEY_ENCRYPTION_KEY = (
    "FE_KEK",
    "FE_KEK_FILE",
    "FE_PKCS11_MODULE",
    "FE_PKCS11_TOKEN",
    "FE_PKCS11_KEYS",
    "FE_PKCS11_PIN_FILE",
)

#: Variables that child processes must not inherit.
SECRETS = (
    "FE_API_KEY_PEPPER",
    "FE_ARCHIVE_KEY",
    "FE_ARCHIVE_SECRET_KEY",
    "FE_AUTHORITY_STATUS_KEY",
    "FE_DATABASE_URL",
    "FE_DATABASE_NEAR",
    "FE_JWT_KEYS",
    "FE_KEK",
    "FE_MAIL_PASSWORD",
    "FE_PASSPHRASE",
    "FE_PORTAL_OIDC_CLIENT_SECRET",
    "FE_STRIPE_KEY",
    "FE_WEBHOOK_KEYS",
)


class NotHardened(OSError):
    """The system refused to protect this process's memory."""


def close_memory() -> None:
    """Protect the memory of this process: no core dump, no debugger of the same user. Children inherit it.

    Other systems than Linux only disable core dumps. Raises NotHardened.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
            raise NotHardened(ctypes.get_errno(), "PR_SET_DUMPABLE was refused")


def keep_from_children() -> None:
    """Remove secrets from the environment of child processes; the settings have them already."""
    for name in [name for name in os.environ if name.upper() in SECRETS]:
        del os.environ[name]


def restart_without(names: Sequence[str]) -> None:
    """Restart this program without these variables, if any is set; then this does not return.

    Taking a variable out of `os.environ` leaves it in the memory that the process was started with, where
    /proc/PID/environ shows it. Call it before anything was started or opened.
    """
    environment = {name: value for name, value in os.environ.items() if name.upper() not in names}
    if len(environment) < len(os.environ):
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(sys.executable, sys.orig_argv, environment)  # noqa: S606  (ourselves, with our own arguments)
