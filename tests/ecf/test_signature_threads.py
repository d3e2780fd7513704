"""Signing in threads is worth the hand-over only because the RSA operation lets other threads run."""

import sys
import threading

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from tests.factories.certificates import rsa_key

_TRIES = 500


def _lets_another_thread_run() -> bool:
    go, ran = threading.Event(), threading.Event()

    def other() -> None:
        go.wait()
        ran.set()

    thread = threading.Thread(target=other)
    thread.start()
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # from here on a thread runs only where this one lets go by itself
    try:
        go.set()
        rsa_key("threads").sign(b"x", PKCS1v15(), SHA256())
        return ran.is_set()
    finally:
        sys.setswitchinterval(usual)
        thread.join()


def test_an_rsa_signature_holds_no_interpreter_lock() -> None:
    rsa_key("threads")

    # Where the lock is kept it is never seen; where it is let go, as soon as the machine runs the other thread in time.
    assert any(_lets_another_thread_run() for _ in range(_TRIES))
