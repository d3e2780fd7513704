"""Keeping secrets in the process that needs them: away from core dumps, debuggers, and roles that do not need them."""

import ctypes
import os
import resource
import sys
from collections.abc import Sequence

#: prctl(2): whether the process may be dumped, and with it: traced, or read through /proc, by others of its user.
_PR_SET_DUMPABLE = 4

#: What a process of `--role http` must not have.
KEY_ENCRYPTION_KEY = (
    "FE_KEK",
    "FE_KEK_FILE",
    "FE_PKCS11_MODULE",
    "FE_PKCS11_TOKEN",
    "FE_PKCS11_KEYS",
    "FE_PKCS11_PIN_FILE",
)

#: What whoever is started by the service has no use for.
SECRETS = (
    "FE_API_KEY_PEPPER",
    "FE_AUTHORITY_STATUS_KEY",
    "FE_DATABASE_URL",
    "FE_DATABASE_NEAR",
    "FE_JWT_KEYS",
    "FE_KEK",
    "FE_PASSPHRASE",
    "FE_PORTAL_OIDC_CLIENT_SECRET",
    "FE_STRIPE_KEY",
    "FE_WEBHOOK_KEYS",
)


class NotHardened(OSError):
    """The system refused what keeps this process's memory to itself."""


def close_memory() -> None:
    """See that nobody else reads our memory: no core dump, no debugger of the same user. Children inherit it.

    On systems other than Linux only core dumps end. Raises NotHardened.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
            raise NotHardened(ctypes.get_errno(), "PR_SET_DUMPABLE was refused")


def keep_from_children() -> None:
    """Take secrets out of the environment that programs we start are given; the settings have them already."""
    for name in [name for name in os.environ if name.upper() in SECRETS]:
        del os.environ[name]


def restart_without(names: Sequence[str]) -> None:
    """Begin this program anew without these variables, if any is set: then this does not return.

    Taking a variable out of `os.environ` leaves it in the memory that the process was started with, where
    /proc/PID/environ shows it. Call it before anything was started or opened.
    """
    environment = {name: value for name, value in os.environ.items() if name.upper() not in names}
    if len(environment) < len(os.environ):
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(sys.executable, sys.orig_argv, environment)  # noqa: S606  (ourselves, with our own arguments)
