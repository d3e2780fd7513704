"""The description as a Postman collection (v2.1), which Bruno and Insomnia import too: a story that can be run.

The folders go from the login to a verdict, through every type of receipt and every outcome that a simulated authority
can be asked for, and to everything that only reads. Requests that change the company's settings, or decide about a
supplier's document, stand in the last folder: they are skipped until the variable `allowChanges` is `yes`.

A fresh company can run it: sequences that are missing are created before the first receipt. With a key of production
nothing is created or issued, because such a receipt is real; `allowChanges` lifts that too.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from fe.ecf.catalogue import EcfType
from fe.http.examples import EXAMPLES
from fe.requested_outcome import AskedOutcome

_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_PREFIX = "/api/v1/fe"
_JSON = {"key": "Content-Type", "value": "application/json"}

#: Set before anything is called, or by an answer. The first three are named as everywhere: docs, clients, `fe login`.
_VARIABLES = {
    "FE_URL": "http://127.0.0.1:8080/api/v1/fe",
    "FE_API_KEY_ID": "",
    "FE_API_SECRET": "",
    "allowChanges": "no",
    "token": "",
    "taxLogId": "",
    "eNCF": "",
    "today": "",
    "environment": "",
    "sequences": "",
    "sequenceEnd": "",
    "receivedId": "",
    "deliveryId": "",
    "importId": "",
    "voidingId": "",
    "rangeId": "",
    "ncf": "",
    "customerId": "postman-customer",
    "recurringId": "postman-recurring",
    "productId": "postman-product",
    "rnc": "131880681",
    "month": "",
    "packageNumber": "1",
    "endpoint": "postman",
    "prefix": "E31",
    "agentId": "5f0d1c1e-6c0d-4a0b-9d0a-2f1f6f8f7a11",
}
#: By path parameter, or the step before it and the parameter: the variable that stands for it.
_PATHS = {
    "trackOrId": "taxLogId",
    "receivedId": "receivedId",
    "deliveryId": "deliveryId",
    "importId": "importId",
    "voidingId": "voidingId",
    "customers/entryId": "customerId",
    "recurringId": "recurringId",
    "products/entryId": "productId",
    "rnc": "rnc",
    "month": "month",
    "number": "packageNumber",
    "prefix": "prefix",
    "agentId": "agentId",
    "rangeId": "rangeId",
    "ncf": "ncf",
    "endpoint": "endpoint",
}
#: By operation: the variables that its answer sets, and the fields they come from, in JavaScript.
_KEPT = {
    "login": {"token": "accessToken", "environment": "environment"},
    "listSequences": {"sequences": "items.map((one) => one.prefix).join()"},
    "submitInvoice": {"taxLogId": "taxLogId", "eNCF": "eNCF"},
    "listReceived": {"receivedId": "items?.[0]?.id"},
    "listDeliveries": {"deliveryId": "items?.[0]?.id"},
    "createImport": {"importId": "importId"},
    "listVoidings": {"voidingId": "items?.[0]?.voidingId ?? ''"},
    "listPaperRanges": {"rangeId": "items?.[0]?.rangeId ?? ''"},
    "listPaperReceipts": {"ncf": "items?.[0]?.ncf ?? ''"},
}

_FIRST, _TYPES, _OUTCOMES, _READING, _CHANGES = (
    "1. From the login to a verdict",
    "2. A receipt of every type",
    "3. Outcomes to rehearse (simulated authority)",
    "4. Reading",
    "5. Changes something: skipped until allowChanges is yes",
)
#: The story, in its order.
_STORY = (
    "login",
    "listSequences",
    "validateInvoice",
    "previewInvoice",
    "submitInvoice",
    "getInvoice",
    "getInvoiceXml",
    "getInvoiceTimeline",
    "listInvoices",
    "submitInvoiceBatch",
)

#: Bodies of the calls of a sandbox. A service without a simulator answers 409.
_PLAYED: Mapping[str, Any] = {
    "sendSandboxReceipt": {},
    "sendSandboxApproval": {"taxLogId": "{{taxLogId}}", "decision": "approved"},
    "playSandboxOutage": {"seconds": 5},
}

#: The day in Santo Domingo, at -04:00 all year; the sandbox of Postman knows no time zones.
_TODAY = [
    'const [year, month, day] = new Date(Date.now() - 4 * 3600 * 1000).toISOString().slice(0, 10).split("-");',
    'pm.collectionVariables.set("today", `${day}-${month}-${year}`);',
    'pm.collectionVariables.set("month", `${year}-${month}`);',
    'pm.collectionVariables.set("sequenceEnd", `${Number(year) + 1}-12-31`);',
]
_SANDBOX = [
    'const allowed = pm.variables.get("allowChanges") === "yes";',
    'if (pm.variables.get("environment") === "ecf" && !allowed) pm.execution.skipRequest();',
]
_GUARD = ['if (pm.variables.get("allowChanges") !== "yes") pm.execution.skipRequest();']


def collection(description: Mapping[str, Any]) -> dict[str, Any]:
    """Make the collection; every operation of the description is in it."""
    operations = {
        operation["operationId"]: (path, method.upper(), operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    }
    submit = operations["submitInvoice"]
    others = [name for name in operations if name not in _STORY and name not in _PLAYED]
    read_only = [name for name in others if operations[name][1] == "GET"]
    first = [_item(description, *operations[name], body=_first_body(name)) for name in _STORY]
    after = _STORY.index("listSequences") + 1
    first[after:after] = [_missing_sequence(description, operations["putSequence"], one.prefix) for one in EcfType]
    folders = {
        _FIRST: first,
        _TYPES: [
            _item(description, *submit, name=f"{one.type}: {one.title.en}", body=_receipt(one.payload), keeps=False)
            for one in EXAMPLES
        ],
        _OUTCOMES: [
            _item(description, *submit, name=outcome.value, body=_rehearsed(outcome), keeps=False, answers=(202, 400))
            for outcome in AskedOutcome
        ]
        + [_item(description, *operations[name], body=body, answers=(200, 409)) for name, body in _PLAYED.items()],
        _READING: [
            _item(
                description, path, method, operation, answers=(200, 404) if _may_be_missing(path, operation) else (200,)
            )
            for path, method, operation in map(operations.__getitem__, read_only)
        ],
        _CHANGES: [
            _item(description, *operations[name], name=title, body=body)
            for name in others
            if name not in read_only
            for title, body in _bodies(description, operations[name][2])
        ],
    }
    info = description["info"]
    items: list[dict[str, Any]] = [{"name": name, "item": items} for name, items in folders.items()]
    items[-1]["event"] = [_script("prerequest", _GUARD)]
    return {
        "info": {
            "name": f"{info['title']} {info['version']}",
            "description": info["description"],
            "schema": _SCHEMA,
        },
        "item": items,
        "event": [_script("prerequest", _TODAY)],
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]},
        "variable": [{"key": key, "value": value, "type": "string"} for key, value in _VARIABLES.items()],
    }


def _missing_sequence(
    description: Mapping[str, Any], operation: tuple[str, str, Mapping[str, Any]], prefix: str
) -> dict[str, Any]:
    """A request that creates the sequence of a type in a sandbox, unless there is one: it changes none."""
    body = {"prefix": prefix, "minSequence": 1, "maxSequence": 5000, "expireAt": "{{sequenceEnd}}"}
    item = _item(description, *operation, name=f"Create the sequence {prefix} if it is missing", body=body)
    known = f'if (pm.variables.get("sequences").split(",").includes("{prefix}")) pm.execution.skipRequest();'
    item["event"].append(_script("prerequest", [*_SANDBOX, known]))
    return item


def _receipt(payload: Any) -> dict[str, Any]:
    """A body that submits one of the examples; notes change the receipt that was issued first, today."""
    reference = payload.get("InformacionReferencia")
    if reference is not None:
        reference = {**reference, "NCFModificado": "{{eNCF}}", "FechaNCFModificado": "{{today}}"}
        header = {name: part for name, part in payload["Encabezado"].items() if name != "Emisor"}
        payload = {**payload, "Encabezado": header, "InformacionReferencia": reference}
    return {"format": "structured", "payload": payload}


def _rehearsed(outcome: AskedOutcome) -> dict[str, Any]:
    simulate: dict[str, Any] = {"outcome": outcome.value}
    if outcome is AskedOutcome.REJECTED:
        simulate["code"] = 4
    return {**_receipt(EXAMPLES[0].payload), "simulate": simulate}


def _first_body(operation: str) -> Any:
    match operation:
        case "login":
            return {"apiKeyId": "{{FE_API_KEY_ID}}", "apiSecret": "{{FE_API_SECRET}}"}
        case "submitInvoice":
            return {**_receipt(EXAMPLES[0].payload), "clientRequestId": "postman-{{$guid}}"}
        case "validateInvoice" | "previewInvoice":
            return _receipt(EXAMPLES[0].payload)
        case "submitInvoiceBatch":
            return {"items": [_receipt(EXAMPLES[0].payload), _receipt(EXAMPLES[0].payload)]}
    return None


def _bodies(description: Mapping[str, Any], operation: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The examples of an operation's body, each with the name of its request."""
    body = operation.get("requestBody")
    if body is None:
        return [(operation["summary"], None)]
    examples = body["content"]["application/json"]["examples"]
    many = len(examples) > 1
    return [
        (f"{operation['summary']}: {name}" if many else operation["summary"], _value(description, example))
        for name, example in examples.items()
    ]


def _item(
    description: Mapping[str, Any],
    path: str,
    method: str,
    operation: Mapping[str, Any],
    *,
    name: str | None = None,
    body: Any = None,
    keeps: bool = True,
    answers: tuple[int, ...] = (200, 201, 202, 204),
) -> dict[str, Any]:
    title = name or operation["summary"]
    variable = next(iter(_in_path(path).values()), None)
    kept = _KEPT.get(operation["operationId"], {}) if keeps else {}
    check = [f'pm.test("answers {" or ".join(map(str, answers))}", () => pm.expect(pm.response.code).to.be.oneOf(']
    check[0] += f"{list(answers)}));"
    if kept:
        check.append("const answer = pm.response.json();")
    check += [f'pm.collectionVariables.set("{variable}", answer.{field});' for variable, field in kept.items()]
    events = [_script("test", check)]
    if operation["operationId"] in ("submitInvoice", "submitInvoiceBatch"):
        events.append(_script("prerequest", _SANDBOX))
    if variable in ("taxLogId", "receivedId", "deliveryId", "importId", "voidingId", "rangeId", "ncf"):
        events.append(_script("prerequest", [f'if (!pm.variables.get("{variable}")) pm.execution.skipRequest();']))
    return {
        "id": f"{operation['operationId']}-{title}",
        "name": title,
        "request": _request(path, method, operation, body),
        "response": list(_responses(description, operation)),
        "event": events,
    }


def _in_path(path: str) -> dict[str, str]:
    """The parameters of a path, each with the variable that stands for it."""
    steps = path.split("/")
    found = ((before, step[1:-1]) for before, step in pairwise(steps) if step.startswith("{"))
    return {name: _PATHS.get(name) or _PATHS[f"{before}/{name}"] for before, name in found}


def _may_be_missing(path: str, operation: Mapping[str, Any]) -> bool:
    """Whether a company without data answers 404: files, and what only a change would make."""
    return _file_type(operation) is not None or bool(_in_path(path).keys() & {"entryId", "rnc", "recurringId"})


def _script(when: str, lines: list[str]) -> dict[str, Any]:
    return {"listen": when, "script": {"type": "text/javascript", "exec": lines}}


def _request(path: str, method: str, operation: Mapping[str, Any], body: Any) -> dict[str, Any]:
    parameters = operation.get("parameters", ())
    below = path.removeprefix(_PREFIX).strip("/").split("/")
    steps = [f":{step[1:-1]}" if step.startswith("{") else step for step in below]
    request: dict[str, Any] = {
        "method": method,
        "header": [_unused(parameter) for parameter in parameters if parameter["in"] == "header"],
        "url": {
            "raw": "{{FE_URL}}/" + "/".join(steps),
            "host": ["{{FE_URL}}"],
            "path": steps,
            "query": [
                {**_unused(parameter), "value": "30", "disabled": False}
                if parameter["name"] == "wait"
                else _unused(parameter)
                for parameter in parameters
                if parameter["in"] == "query"
            ],
            "variable": [{"key": key, "value": f"{{{{{variable}}}}}"} for key, variable in _in_path(path).items()],
        },
        "description": operation.get("description", "No token is needed."),
    }
    if not operation["security"]:
        request["auth"] = {"type": "noauth"}
    if body is not None:
        request["header"].append(_JSON)
        request["body"] = {"mode": "raw", "raw": _text(body), "options": {"raw": {"language": "json"}}}
    return request


def _unused(parameter: Mapping[str, Any]) -> dict[str, Any]:
    return {"key": parameter["name"], "value": "", "description": parameter["description"], "disabled": True}


def _responses(description: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if kind := _file_type(operation):
        header = {**_JSON, "value": kind}
        yield {"name": "200 file", "status": "OK", "code": 200, "header": [header], "body": ""}
    for status, answer in operation["responses"].items():
        for name, example in answer.get("content", {}).get("application/json", {}).get("examples", {}).items():
            yield {
                "name": f"{status} {name}",
                "status": answer["description"].partition(":")[0],
                "code": int(status),
                "header": [_JSON],
                "body": _text(_value(description, example)),
            }


def _file_type(operation: Mapping[str, Any]) -> str | None:
    """The media type of an operation that answers with a file; None where it answers with JSON."""
    content = operation["responses"].get("200", {}).get("content", {"application/json": {}})
    return next((str(kind) for kind in content if kind != "application/json"), None)


def _value(description: Mapping[str, Any], example: Mapping[str, Any]) -> Any:
    if "$ref" in example:
        example = description["components"]["examples"][example["$ref"].rpartition("/")[2]]
    return example["value"]


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
