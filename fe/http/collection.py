"""The description as a Postman collection (v2.1), which Bruno and Insomnia import too: a request for each operation.

Whoever opens it sets `baseUrl`, `apiKeyId` and `apiSecret`, and calls the login first: its answer gives the others
their token. A receipt that was submitted gives the calls about it its id.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_JSON = {"key": "Content-Type", "value": "application/json"}

#: What is set before anything is called, or by an answer.
_VARIABLES = {
    "baseUrl": "http://127.0.0.1:8080",
    "apiKeyId": "",
    "apiSecret": "",
    "token": "",
    "taxLogId": "",
    "receivedId": "",
    "deliveryId": "",
}
#: By path parameter: what stands for it.
_PATHS = {
    "trackOrId": "{{taxLogId}}",
    "receivedId": "{{receivedId}}",
    "deliveryId": "{{deliveryId}}",
    "prefix": "E31",
}
#: By operation: the variable that its answer sets, and the field it comes from, in JavaScript.
_KEPT = {
    "login": ("token", "accessToken"),
    "submitInvoice": ("taxLogId", "taxLogId"),
    "listReceived": ("receivedId", "items?.[0]?.id"),
    "listDeliveries": ("deliveryId", "items?.[0]?.id"),
}


def collection(description: Mapping[str, Any]) -> dict[str, Any]:
    """Make the collection: a folder for each group, in it a request for each example of each operation."""
    folders: dict[str, list[dict[str, Any]]] = {}
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            items = folders.setdefault(operation["tags"][0], [])
            items += _items(description, path, method.upper(), operation)
    info = description["info"]
    return {
        "info": {
            "name": f"{info['title']} {info['version']}",
            "description": info["description"],
            "schema": _SCHEMA,
        },
        "item": [{"name": name, "item": items} for name, items in folders.items()],
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]},
        "variable": [{"key": key, "value": value, "type": "string"} for key, value in _VARIABLES.items()],
    }


def _items(
    description: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    bodies = _bodies(description, operation)
    for name, body in bodies or [("", None)]:
        request = _request(path, method, operation, body)
        title = operation["summary"] if len(bodies) < 2 else f"{operation['summary']}: {name}"
        item = {
            "id": operation["operationId"] if len(bodies) < 2 else f"{operation['operationId']}-{name}",
            "name": title,
            "request": request,
            "response": list(_responses(description, operation)),
        }
        kept = _KEPT.get(operation["operationId"])
        if kept is not None:
            item["event"] = [{"listen": "test", "script": {"type": "text/javascript", "exec": _keep(*kept)}}]
        yield item


def _keep(variable: str, field: str) -> list[str]:
    return [
        "const answer = pm.response.json();",
        f'if (pm.response.code < 300) pm.collectionVariables.set("{variable}", answer.{field});',
    ]


def _bodies(description: Mapping[str, Any], operation: Mapping[str, Any]) -> list[tuple[str, Any]]:
    body = operation.get("requestBody")
    if body is None:
        return []
    examples = body["content"]["application/json"]["examples"]
    bodies = [(name, _value(description, example)) for name, example in examples.items()]
    if operation["operationId"] == "login":
        return [(name, {field: f"{{{{{field}}}}}" for field in value}) for name, value in bodies]
    return bodies


def _request(path: str, method: str, operation: Mapping[str, Any], body: Any) -> dict[str, Any]:
    parameters = operation.get("parameters", ())
    steps = [f":{step[1:-1]}" if step.startswith("{") else step for step in path.strip("/").split("/")]
    asked = [parameter for parameter in parameters if parameter["in"] == "query"]
    request: dict[str, Any] = {
        "method": method,
        "header": [
            {"key": parameter["name"], "value": "", "description": parameter["description"], "disabled": True}
            for parameter in parameters
            if parameter["in"] == "header"
        ],
        "url": {
            "raw": "{{baseUrl}}/" + "/".join(steps),
            "host": ["{{baseUrl}}"],
            "path": steps,
            "query": [
                {"key": parameter["name"], "value": "", "description": parameter["description"], "disabled": True}
                for parameter in asked
            ],
            "variable": [{"key": step[1:], "value": _PATHS[step[1:]]} for step in steps if step.startswith(":")],
        },
        "description": operation.get("description", "No token is needed."),
    }
    if "security" not in operation:
        request["auth"] = {"type": "noauth"}
    if body is not None:
        request["header"].append(_JSON)
        request["body"] = {"mode": "raw", "raw": _text(body), "options": {"raw": {"language": "json"}}}
    return request


def _responses(description: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for status, answer in operation["responses"].items():
        for name, example in answer.get("content", {}).get("application/json", {}).get("examples", {}).items():
            yield {
                "name": f"{status} {name}",
                "status": answer["description"].partition(":")[0],
                "code": int(status),
                "header": [_JSON],
                "body": _text(_value(description, example)),
            }


def _value(description: Mapping[str, Any], example: Mapping[str, Any]) -> Any:
    if "$ref" in example:
        example = description["components"]["examples"][example["$ref"].rpartition("/")[2]]
    return example["value"]


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
