"""The OpenAPI 3.1 description, made of the routes and of the models that validate their bodies."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from fe import RELEASE
from fe.accounts.keys import SCOPES
from fe.http.models.events import EVENT_MODELS
from fe.http.models.requests import NewInvoice
from fe.http.models.response_types import ResponseModel
from fe.http.models.responses import ERROR
from fe.http.openapi.answer_examples import ANSWERS
from fe.http.openapi.described_errors import OF_ALL, OF_QUERIES, DescribedError, of_bodies, of_tokens
from fe.http.openapi.payload_schemas import payload_schemas
from fe.http.request_bodies import RequestModel
from fe.http.routes.types import About, Route

#: The schema of a body or an answer.
Model = type[RequestModel] | ResponseModel[Any]
Refs = Mapping[Model, dict[str, Any]]

_REFERENCE = "#/components/schemas/{model}"

#: The forms of a document, what carries each, and the component that a body in that form has.
_FORMS = {
    "structured": ("payload", "NewStructuredInvoice"),
    "xml": ("xml", "NewXmlInvoice"),
    "gobl": ("payload", "NewGoblInvoice"),
}

_RETRY_AFTER = {
    "Retry-After": {
        "description": "seconds after which to try again",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    }
}

_WEBHOOK_HEADERS = {
    "X-Service-Event": "the kind of event",
    "X-Service-Delivery": "id of the delivery, the same each time it is tried",
    "X-Service-Signature": "`sha256=` and the hexadecimal HMAC-SHA256 of the body under the secret",
    "webhook-id": "the delivery's id (Standard Webhooks)",
    "webhook-timestamp": "when this try was made, in seconds since 1970",
    "webhook-signature": "`v1,` and the base64 HMAC-SHA256 of `{id}.{timestamp}.{body}`; two while a secret changes",
}

_INTRODUCTION = """\
Issues electronic fiscal receipts (e-CF) to the tax authority of the Dominican Republic.

1. `POST /login` exchanges an API key for a token of one hour.
2. `POST /invoices` takes a receipt and answers 202 at once.
3. `GET /invoices/{trackOrId}?wait=30` answers when the authority has given its verdict.

Every error is `{message, statusCode}`. Every answer carries `X-Request-Id`; a request may bring its own.
`X-API-Version` is the release. Answers of limited calls have `X-RateLimit-Limit`, `X-RateLimit-Remaining` and
`X-RateLimit-Reset`.
"""


def describe(routes: Iterable[Route]) -> dict[str, Any]:
    """Make the description of every route that has one."""
    described = [(route, route.about) for route in routes if route.about is not None]
    refs, definitions = _schemas((about for _, about in described), EVENT_MODELS.values())
    _name_enum_values(definitions)
    merged = _merge_answers((about for _, about in described), refs, definitions)
    paths: dict[str, dict[str, Any]] = {}
    for route, about in described:
        path = re.sub(r"<(\w+)>", lambda found: "{" + _camel(found[1]) + "}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, about, refs, merged)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "fe",
            "version": RELEASE,
            "summary": "Electronic fiscal receipts",
            "description": _INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "webhooks": {event: _webhook(event, refs[model]) for event, model in EVENT_MODELS.items()},
        "components": {
            "schemas": dict(sorted(definitions.items())),
            "examples": _examples_of_errors(described),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": f"from POST /login; scopes: {', '.join(SCOPES)}",
                }
            },
        },
    }


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _schemas(abouts: Iterable[About], sent: Iterable[ResponseModel[Any]]) -> tuple[Refs, dict[str, Any]]:
    """Every model's reference, and the definitions they refer to."""
    request_models: dict[type[RequestModel], None] = {}
    response_models: dict[ResponseModel[Any], None] = {ERROR: None, **dict.fromkeys(sent)}
    for about in abouts:
        if about.body is not None:
            request_models[about.body] = None
        response_models |= dict.fromkeys(model for models in about.answers.values() for model in models)
    models: list[tuple[Model, JsonSchemaMode, TypeAdapter[Any]]] = [
        (model, "validation", TypeAdapter(model)) for model in request_models
    ]
    models += [(model, "serialization", model.adapter) for model in response_models]
    schemas, top = TypeAdapter.json_schemas(models, ref_template=_REFERENCE)
    definitions: dict[str, dict[str, Any]] = top["$defs"]
    for definition in definitions.values():
        definition.pop("title", None)
        # A release may add fields to answers, and a client made from this description must not fail on them. Tests
        # check that answers have no other fields today.
        definition.pop("additionalProperties", None)
        for field in definition.get("properties", {}).values():
            field.pop("title", None)
            field.pop("default", None)  # the models' defaults stand for "absent"; in an answer it is just absent
            if field.get("type") in ("boolean", "integer"):
                field.pop("const", None)  # generators for C# write a broken enum for it
    if NewInvoice in request_models:
        definitions |= _forms_of_an_invoice(definitions[NewInvoice.__name__])
    return {model: schema for (model, _), schema in schemas.items()}, definitions


def _merge_answers(abouts: Iterable[About], refs: Refs, definitions: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Add one schema for each operation that answers with several models; return a reference to it by operation.

    Generated clients read a union of answers wrongly, each in its own way: Java took every submission for the first
    alternative in the alphabet. So an operation has one schema with the fields of all of them, of which those that all
    have are required. `x-one-of` names the models, each of which is described by itself as well.
    """
    merged = {}
    for about in abouts:
        models = dict.fromkeys(model for of_status in about.answers.values() for model in of_status)
        if len(models) <= 1:
            continue
        alternatives = [definitions[refs[model]["$ref"].rpartition("/")[2]] for model in models]
        properties: dict[str, Any] = {}
        for alternative in alternatives:
            for name, field in alternative["properties"].items():
                if name not in properties or "const" in properties[name]:
                    properties[name] = field
        required = [name for name in properties if all(name in each.get("required", ()) for each in alternatives)]
        name = about.operation[0].upper() + about.operation[1:] + "Answer"
        definitions[name] = {
            "type": "object",
            "description": " Or: ".join(each["description"] for each in alternatives),
            "properties": properties,
            "x-one-of": [refs[model] for model in models],
        } | ({"required": required} if required else {})
        merged[about.operation] = {"$ref": _REFERENCE.format(model=name)}
    return merged


def _name_enum_values(definitions: Mapping[str, dict[str, Any]]) -> None:
    """Give each value of an enum its own name in the whole description: Go makes constants of a package of them."""
    enums = {name: each for name, each in definitions.items() if "enum" in each}
    names = {
        name: each.get("x-enum-varnames") or [re.sub(r"\W+", "_", str(value)).upper() for value in each["enum"]]
        for name, each in enums.items()
    }
    uses = Counter(one for of_enum in names.values() for one in of_enum)
    for name, each in enums.items():
        prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", name.removeprefix("Ecf")).upper()
        each["x-enum-varnames"] = [one if uses[one] == 1 else f"{prefix}_{one}" for one in names[name]]


def _forms_of_an_invoice(model: dict[str, Any]) -> dict[str, Any]:
    """The body of a submission as one object for each form, which `format` tells apart, and the payloads' schemas.

    Generators make a class of each, and a union of the two; of one object whose fields depend on each other they make
    something that cannot be used (docs/decisions/described-payloads.md).
    """
    payloads, components = payload_schemas()
    documents: dict[str, dict[str, Any]] = {
        "structured": {"anyOf": payloads, "description": "the document as JSON, in the authority's element names"},
        "xml": {
            "type": "string",
            "minLength": 1,
            "description": "complete e-CF XML",
        },
        "gobl": {"type": "object", "description": "a GOBL invoice (draft 0), alone or in its envelope"},
    }
    carriers = {carrier for carrier, _ in _FORMS.values()}
    others = {name: field for name, field in model["properties"].items() if name not in {"format", *carriers}}
    for form, (carrier, name) in _FORMS.items():
        components[name] = {
            "type": "object",
            "description": f"{model['description']} In the form `{form}`.",
            "properties": {
                "format": {
                    "const": form,
                    "type": "string",
                    "description": model["properties"]["format"]["description"],
                },
                carrier: documents[form],
                **others,
            },
            "required": ["format", carrier],
        }
    components[NewInvoice.__name__] = {
        "description": model["description"],
        "oneOf": [{"$ref": _REFERENCE.format(model=name)} for _, name in _FORMS.values()],
        "discriminator": {
            "propertyName": "format",
            "mapping": {form: _REFERENCE.format(model=name) for form, (_, name) in _FORMS.items()},
        },
        "examples": model["examples"],
    }
    return components


def _operation(route: Route, about: About, refs: Refs, merged: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": about.operation,
        "summary": about.summary,
        "tags": [about.group],
        "security": [],
    }
    if about.parameters:
        operation["parameters"] = [
            {
                "name": parameter.name,
                "in": parameter.where,
                "description": parameter.description,
                "required": parameter.where == "path",
                "schema": parameter.schema,
                **({"deprecated": True} if parameter.deprecated else {}),
            }
            for parameter in about.parameters
        ]
    if about.body is not None:
        operation["requestBody"] = {
            "required": about.needs_body,
            "content": _json(refs[about.body], _examples(about.body)),
        }
    if route.scope is not None:
        operation["description"] = f"Scope `{route.scope}`. {about.note}".rstrip()
        operation["security"] = [{"token": []}]
    answers = {
        status: _answer(about.operation, status, models, refs, merged) for status, models in about.answers.items()
    }
    answers |= {status: _error(status, failures, refs) for status, failures in _failures(route, about).items()}
    if about.file:
        content = {about.file: {"schema": {"type": "string", "format": "binary"}}}
        answers[200] = {"description": HTTPStatus.OK.phrase, "content": content}
    for link in about.links:
        answers[link.status].setdefault("links", {})[link.operation] = {
            "operationId": link.operation,
            "parameters": {link.parameter: f"$response.body#/{link.field}"},
        }
    operation["responses"] = {str(status): answers[status] for status in sorted(answers)}
    return operation


def _examples(body: type[RequestModel]) -> dict[str, Any]:
    """Bodies that a test hands in, from the model."""
    extra = body.model_config["json_schema_extra"]
    assert isinstance(extra, dict)
    examples = extra["examples"]
    assert isinstance(examples, list)
    return {f"example-{number}": {"value": value} for number, value in enumerate(examples, 1)}


def _webhook(event: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Describe a call of ours to an endpoint."""
    words = "".join(word.title() for word in re.findall(r"[a-z]+", event))
    return {
        "post": {
            "operationId": f"webhook{words}",
            "summary": f"Event `{event}`",
            "description": "Check `webhook-signature` over the raw body before anything else.",
            "tags": ["Events"],
            "parameters": [
                {"name": name, "in": "header", "required": True, "description": words, "schema": {"type": "string"}}
                for name, words in _WEBHOOK_HEADERS.items()
            ],
            "requestBody": {"required": True, "content": _json(schema)},
            "responses": {
                "2XX": {"description": "Delivered; so it is with 3XX, which is not followed."},
                "410": {"description": "The endpoint is gone: it is called no more."},
                "default": {"description": "Tried again, ten times in about 75 hours; `Retry-After` is honoured."},
            },
        }
    }


def _answer(
    operation: str,
    status: int,
    models: tuple[ResponseModel[Any], ...],
    refs: Refs,
    merged: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    schema = merged.get(operation) or refs[models[0]]
    examples = {name: {"value": value} for name, value in ANSWERS[operation][str(status)].items()}
    return {"description": HTTPStatus(status).phrase, "content": _json(schema, examples)}


def _failures(route: Route, about: About) -> dict[int, list[DescribedError]]:
    """The errors of a route by status: its own, and those that every route of its kind has."""
    found = list(about.errors)
    if about.body is not None:
        found += of_bodies(route.max_body_bytes)
    if any(parameter.where == "query" for parameter in about.parameters):
        found += OF_QUERIES
    if route.scope is not None:
        found += of_tokens(route.scope)
    by_status: dict[int, list[DescribedError]] = {}
    for failure in [*found, *OF_ALL]:
        by_status.setdefault(failure.status, []).append(failure)
    return by_status


def _error(status: int, failures: list[DescribedError], refs: Refs) -> dict[str, Any]:
    reasons = "; ".join(dict.fromkeys(failure.when for failure in failures))
    examples = {failure.name: {"$ref": f"#/components/examples/{failure.name}"} for failure in failures}
    answer = {"description": f"{HTTPStatus(status).phrase}: {reasons}", "content": _json(refs[ERROR], examples)}
    return answer | ({"headers": _RETRY_AFTER} if status in (429, 503) else {})


def _examples_of_errors(described: Iterable[tuple[Route, About]]) -> dict[str, Any]:
    """Every error that is listed anywhere, under its name; operations refer to them."""
    every = [failure for route, about in described for these in _failures(route, about).values() for failure in these]
    return {failure.name: {"summary": failure.when, "value": failure.example} for failure in every}


def _json(schema: dict[str, Any], examples: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"application/json": {"schema": schema} | ({"examples": examples} if examples else {})}
