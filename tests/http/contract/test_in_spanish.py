"""Whatever is refused is refused in both languages: each request is sent twice, and says the same in other words."""

from typing import Any

import httpx

from tests.http.front import invoice_payload, structured

_NOWHERE = "00000000-0000-7000-8000-000000000000"

#: Method, path, and what is sent with it; a test of the code sees to it that there is no message without its Spanish.
REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/login", {"json": {"apiKeyId": "x", "apiSecret": "y"}}),
    ("POST", "/login", {"json": {"apiKeyId": "fak_000000000000", "apiSecret": "y"}}),
    ("POST", "/login", {"json": []}),
    ("POST", "/login", {"content": b"x", "headers": {"Content-Type": "text/plain"}}),
    ("GET", "/invoices", {"headers": {"Authorization": ""}}),
    ("GET", "/invoices", {"headers": {"Authorization": "Bearer x"}}),
    ("GET", "/nowhere", {}),
    ("PUT", "/invoices", {"json": {}}),
    ("GET", "/invoices?limit=0", {}),
    ("GET", "/invoices?x=1", {}),
    ("GET", "/invoices?limit=1&limit=2", {}),
    ("GET", "/invoices?from=x", {}),
    ("GET", "/invoices?from=2026-02-01&to=2026-01-01", {}),
    ("GET", "/invoices?state=x", {}),
    ("GET", "/invoices?encf=x", {}),
    ("GET", "/invoices?rnc=x", {}),
    ("GET", "/invoices?cursor=x", {}),
    ("POST", "/invoices", {"content": b"{", "headers": {"Content-Type": "application/json"}}),
    ("POST", "/invoices", {"content": b'{"a":1,"a":2}', "headers": {"Content-Type": "application/json"}}),
    ("POST", "/invoices", {"content": b'{"a":1e3}', "headers": {"Content-Type": "application/json"}}),
    ("POST", "/invoices", {"json": {"format": "xml", "xml": "<ECF>"}}),
    ("POST", "/invoices", {"json": {"format": "xml", "xml": "<!DOCTYPE a><ECF/>"}}),
    ("POST", "/invoices", {"json": {"format": "xml", "xml": "<ECF><Encabezado>x</Encabezado></ECF>"}}),
    ("POST", "/invoices", {"json": {"format": "structured", "payload": {}}}),
    ("POST", "/invoices", {"json": {"format": "structured", "payload": {"encabezado": {}}}}),
    ("POST", "/invoices", {"json": structured(invoice_payload(None, TipoeCF="31"))}),
    ("POST", "/invoices", {"json": structured(asUserId="x")}),
    ("POST", "/invoices", {"json": structured(clientRequestId="")}),
    ("POST", "/invoices", {"json": structured(simulate={"outcome": "stuck"})}),
    ("POST", "/invoices", {"json": structured(), "headers": {"Idempotency-Key": '""'}}),
    ("POST", "/invoices/batch", {"json": {"items": []}}),
    ("POST", "/invoices/batch", {"json": {"items": [1]}, "headers": {"Idempotency-Key": "a"}}),
    ("POST", "/ncf", {"json": {"prefix": "E99"}}),
    ("POST", "/ncf", {"json": {"prefix": "E31", "minSequence": 5, "maxSequence": 4}}),
    ("POST", "/ncf", {"json": {"prefix": "E31", "minSequence": 0}}),
    ("POST", "/ncf", {"json": {"prefix": "E31", "expireAt": "tomorrow"}}),
    ("PATCH", "/ncf/E31", {"json": {"currentSequence": 1}}),
    ("DELETE", "/ncf/E31", {}),
    ("DELETE", "/ncf/x", {}),
    ("POST", f"/received/{_NOWHERE}/approve", {}),
    ("POST", f"/received/{_NOWHERE}/reject", {"json": {"reason": ""}}),
    ("GET", "/received?limit=x", {}),
    ("GET", "/usage?days=0", {}),
    ("PUT", "/webhooks", {"json": {"url": "http://a.example"}}),
    ("PUT", "/webhooks", {"json": {"url": "https://10.0.0.1/"}}),
    ("PUT", "/webhooks", {"json": {"url": "https://u:p@a.example/"}}),
    ("PUT", "/webhooks", {"json": {"url": "https://a.example/", "events": ["x"]}}),
    ("PUT", "/webhooks", {"json": {"url": "https://a.example/", "headers": {"Host": "b"}}}),
    ("PUT", "/webhooks", {"json": {"url": "https://a.example/", "headers": {"a b": "c"}}}),
    ("POST", "/webhooks/test", {}),
    ("POST", "/webhooks/recover", {"json": {"since": "x"}}),
    ("POST", "/webhooks/recover", {"json": {"since": "2999-01-01"}}),
    ("GET", "/webhooks/deliveries?state=x", {}),
    ("POST", f"/webhooks/deliveries/{_NOWHERE}/retry", {}),
]


async def test_every_refusal_is_in_the_language_that_is_asked_for(api: httpx.AsyncClient) -> None:
    said = {}
    for method, path, sent in REFUSED:
        headers = sent.get("headers", {})
        answers = [
            await api.request(method, path, **{**sent, "headers": {**headers, "Accept-Language": language}})
            for language in ("en", "es-DO")
        ]
        english, spanish = (answer.json() for answer in answers)
        assert english["statusCode"] == spanish["statusCode"] >= 400, (method, path, english)
        assert english["message"] != spanish["message"], (method, path, english)
        assert [answer.headers["Content-Language"] for answer in answers] == ["en", "es"], (method, path)
        assert all(answer.headers["Vary"] == "Accept-Language" for answer in answers), (method, path)
        said[english["message"]] = spanish["message"]

    assert len(said) > 40  # as many kinds of refusals, each in words of its own
    assert len(set(said.values())) == len(said)
