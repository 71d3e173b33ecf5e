"""The page that describes the API: plain HTML made of the OpenAPI document, without a script."""

import json
from html import escape
from typing import Any

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mpbert: the HTTP API</title>
<link rel="icon" href="static/icon.svg">
<link rel="stylesheet" href="static/style.css">
</head>
<body>
<header><h1>mpbert</h1><p>the HTTP API</p>
<nav aria-label="Views"><a href=".">Write</a></nav></header>
<main class="description">
"""


def docs_page(described: dict[str, Any], address: str) -> str:
    """Return the page.

    :param described: an OpenAPI document.
    :param address: at which the server is asked, for the examples; without a ``/`` at its end.
    """
    info, has_token = described["info"], "security" in described
    parts = [
        f"<p>{escape(info['summary'])} Version {escape(info['version'])}.</p>",
        f'<p>{escape(info["description"])} The same for programs: <a href="openapi.json">'
        "openapi.json</a>.</p>",
    ]
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            needs_token = has_token and operation.get("security") != []
            parts += _operation(address, path, method.upper(), operation, described, needs_token)
    for name, schema in described["components"]["schemas"].items():
        parts += [f'<h2 id="{escape(name)}">{escape(name)}</h2>']
        parts += [f"<p>{escape(schema.get('description', ''))}</p>", _fields(schema)]
    return "\n".join([_HEAD, *parts, "</main>\n</body>\n</html>\n"])


def _operation(
    address: str,
    path: str,
    method: str,
    operation: dict[str, Any],
    described: dict[str, Any],
    needs_token: bool,
) -> list[str]:
    bodies = operation.get("requestBody", {}).get("content", {})
    body = bodies.get("application/json", {})
    example = _example_of(body.get("schema", {}), described)
    parameters = operation.get("parameters", [])
    rows = [
        (p["name"], _type(p["schema"]), p.get("description") or p["schema"].get("description", ""))
        for p in parameters
    ]
    asked = "&".join(f"{p['name']}={value}" for p in parameters for value in _values(p["schema"]))
    command = [f"curl -s '{address}{path}{'?' + asked if asked else ''}'"]
    if needs_token:
        command.append("-H 'Authorization: Bearer TOKEN'")
    if example is not None:
        command += ["-H 'content-type: application/json'", f"-d '{json.dumps(example)}'"]
    elif bodies:  # a file
        command += [f"-H 'content-type: {next(iter(bodies))}'", "--data-binary @FILE"]
    parts = [
        f"<h2>{method} {escape(path)}</h2>",
        f"<p>{escape(operation.get('description', ''))}</p>",
        f"<pre>{escape(f' {chr(92)}{chr(10)}  '.join(command))}</pre>",
    ]
    if rows:
        parts.append(_table(("parameter", "type", "what"), [[*map(escape, row)] for row in rows]))
    if "schema" in body:
        parts.append(f"<p>The body is a {_type(body['schema'], linked=True)}.</p>")
    return [*parts, _responses(operation["responses"])]


def _responses(responses: dict[str, Any]) -> str:
    rows = []
    for code, response in sorted(responses.items()):
        ((kind, content),) = response["content"].items()
        found = content.get("schema", {})
        rows.append(
            [code, escape(response["description"]), _type(found, linked=True) or escape(kind)]
        )
    return _table(("status", "meaning", "answer"), rows)


def _fields(schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    rows = [
        [
            escape(name),
            _type(field, linked=True),
            "" if name in required else escape(json.dumps(field.get("default"))),
            escape(field.get("description", "")),
        ]
        for name, field in schema.get("properties", {}).items()
    ]
    return _table(("field", "type", "default", "what"), rows)


def _table(names: tuple[str, ...], rows: list[list[str]]) -> str:
    """Return a table of cells that are HTML."""
    head = "".join(f"<th>{name}</th>" for name in names)
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in [head, *lines])
    return f"<table>\n{body}\n</table>"


def _type(schema: dict[str, Any], linked: bool = False) -> str:
    """Return what a value is, with links to the models."""
    if reference := schema.get("$ref", ""):
        name = escape(reference.rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>' if linked else name
    if kinds := schema.get("anyOf"):
        return " or ".join(_type(kind, linked) for kind in kinds)
    if choices := schema.get("enum"):
        return escape(", ".join(map(str, choices)))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'], linked)}"
    bounds = {"minimum": "from", "maximum": "to", "maxLength": "length up to"}
    found = [f"{word} {schema[name]:g}" for name, word in bounds.items() if name in schema]
    return escape(" ".join([schema.get("type", ""), *found]))


def _values(schema: dict[str, Any]) -> list[str]:
    """Return the values of a parameter in the example; none where it is left out."""
    examples = schema.get("examples", [])[:1]
    return [
        str(value)
        for found in examples
        for value in (found if isinstance(found, list) else [found])
    ]


def _example_of(schema: dict[str, Any], described: dict[str, Any]) -> Any:
    """Return the first example of a model; None where there is none."""
    name = schema.get("$ref", "").rpartition("/")[2]
    examples = described["components"]["schemas"].get(name, {}).get("examples", [None])
    return examples[0]
