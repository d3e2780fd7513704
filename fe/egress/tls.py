"""How TLS is spoken to others: to the authority, to counterparties and webhooks, to the payment processor."""

import ssl
from functools import cache

#: A key of its own for each connection, no SHA-1, nothing under 128 bits; those of TLS 1.3 are all good. Said here
#: because Pythons of distributions may offer whatever their OpenSSL does (Debian 12: suites of SSL 3, too).
_SUITES = "@SECLEVEL=2:ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:DHE+AES:!aNULL:!eNULL:!aDSS:!SHA1:!AESCCM"


@cache
def default_tls() -> ssl.SSLContext:
    """Verify against the system's roots (SSL_CERT_FILE included), from TLS 1.2 on (authority.md#hosts).

    All clients of a process share it, because reading the roots takes 20 ms. Do not change it.
    """
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_SUITES)
    context.set_alpn_protocols(["http/1.1"])
    return context
