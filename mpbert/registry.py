"""One registry per family: names to classes, listed sorted, with the closest name suggested."""

import difflib
from typing import Generic, TypeVar

from mpbert.errors import ConfigError

T = TypeVar("T", bound=type)


class Registry(Generic[T]):
    """A family of classes that have one interface and a ``name``."""

    def __init__(self, family: str) -> None:
        self.family = family
        self._members: dict[str, T] = {}

    def register(self, member: T) -> T:
        """Add a class under its ``name``; use as a decorator.

        :raises ValueError: the name is taken.
        """
        if member.name in self._members:
            raise ValueError(f"two members of {self.family} are called {member.name!r}")
        self._members[member.name] = member
        return member

    def names(self) -> list[str]:
        """Names of all members, sorted."""
        return sorted(self._members)

    def __getitem__(self, name: str) -> T:
        """Return the class called ``name``.

        :raises ConfigError: there is none; the message lists all names and suggests the closest.
        """
        if name not in self._members:
            close = difflib.get_close_matches(name, self._members, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(
                f"unknown {self.family} {name!r}; expected one of {', '.join(self.names())}{hint}"
            )
        return self._members[name]
