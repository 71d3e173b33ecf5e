"""What is wrong with a request, as one line of ASCII."""

from typing import Any

from mpbert.foundation.errors import printable


def one_line(errors: list[Any]) -> str:
    """Return what pydantic found as one line of ASCII: the first error, and how many more."""
    first, more = errors[0], len(errors) - 1
    where = ".".join(map(str, first["loc"][1:]))  # the first part is "body" or "query"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        where, message = "", f"the body is no JSON: {first['ctx']['error']}"
    elif isinstance(first["input"], bytes):
        where, message = "", "the body is not said to be JSON; send content-type: application/json"
    elif first["type"] not in ("missing", "value_error"):
        message = f"{message}; found {_shown(first['input'])}"
    line = ascii_line(f"{where}: {message}" if where else message)
    return f"{line} (and {more} more)" if more else line


def ascii_line(message: str) -> str:
    """Return a message as one line of ASCII."""
    return printable(message).encode("ascii", "backslashreplace").decode()


def _shown(value: object) -> str:
    """Return a value as one short piece of ASCII; texts and numbers may be very long."""
    if isinstance(value, str):
        return ascii(value[:40]) + ("..." if len(value) > 40 else "")
    if value is None or isinstance(value, (bool, float)):
        return repr(value)
    if isinstance(value, int):
        return repr(value) if abs(value) < 10**20 else "a very large integer"
    return {"list": "a list", "dict": "an object"}.get(type(value).__name__, "bytes")
