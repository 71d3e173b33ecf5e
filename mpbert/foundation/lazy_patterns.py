"""Regular expressions that are compiled when they are first asked: a command asks few of many."""

import re
from typing import Any, AnyStr, cast


def lazy_re(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern; compiling all at import would take longer than many an answer."""
    return cast("re.Pattern[AnyStr]", _Lazy(text, flags))


class _Lazy:
    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)  # the next time it is as fast as that of a pattern
        return found
