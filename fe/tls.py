"""How TLS is spoken to others: to the authority, to counterparties and webhooks, to the payment processor."""

import ssl


def default_tls() -> ssl.SSLContext:
    """Verify against the system's roots (SSL_CERT_FILE included), from TLS 1.2 on (authority.md#hosts)."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
