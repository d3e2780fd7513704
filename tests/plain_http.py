"""For clients that speak plain HTTP: by itself httpx reads the certificates of all authorities for each of them."""

import ssl

#: TLS context without trusted roots. `httpx.AsyncClient(verify=NO_TLS)`.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
