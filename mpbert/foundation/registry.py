"""One registry per family: names to classes, listed sorted, with the closest name suggested."""

import difflib
import importlib
import importlib.metadata
import importlib.util
import logging
import pkgutil
from typing import Generic, TypeVar

from mpbert.foundation.errors import ConfigError

T = TypeVar("T", bound=type)
logger = logging.getLogger(__name__)


class Registry(Generic[T]):
    """A family of classes that have one interface and a ``name``.

    Members are found by where they are: the first look at the registry imports their modules.

    :param family: what messages call a member.
    :param package: whose modules hold the members; empty: those that register are all.
    :param module: the module of each folder of ``package`` that holds members; empty: every
        module of ``package`` and of its folders.
    :param group: of the entry points by which other installed packages name modules or classes
        that register; empty: none are looked for.
    """

    def __init__(self, family: str, package: str = "", module: str = "", group: str = "") -> None:
        self.family, self._package, self._module = family, package, module
        self._group = group
        self._members: dict[str, T] = {}

    def register(self, member: T) -> T:
        """Add a class under its ``name``; use as a decorator.

        :raises ValueError: it has no name, or the name is taken.
        """
        if not getattr(member, "name", ""):
            raise ValueError(f"{member.__qualname__} has no name; give it one: name = ...")
        if member.name in self._members:
            raise ValueError(f"two members of {self.family} are called {member.name!r}; rename one")
        self._members[member.name] = member
        return member

    def names(self) -> list[str]:
        """Names of all members, sorted."""
        self._import_members()
        return sorted(self._members)

    def __getitem__(self, name: str) -> T:
        """Return the class called ``name``.

        :raises ConfigError: there is none; the message lists all names and suggests the closest.
        """
        if name not in self.names():
            close = difflib.get_close_matches(name, self._members, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(
                f"unknown {self.family} {name!r}; expected one of {', '.join(self.names())}{hint}"
            )
        return self._members[name]

    def _import_members(self) -> None:
        package, self._package = self._package, ""
        if package:
            self._import_package(package)
        group, self._group = self._group, ""
        if group:
            self._load_installed(group)

    def _load_installed(self, group: str) -> None:
        """Load what other packages bring; one that fails is left out, and the log says so."""
        for found in importlib.metadata.entry_points(group=group):
            try:
                found.load()
            except Exception as error:  # of the other package: the rest works without it
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                package = found.dist.name if found.dist else "?"
                logger.warning(
                    "%s %r of the installed package %s: left out, since it cannot be loaded (%s); "
                    "mend or uninstall that package",
                    *(self.family, found.name, package, reason),
                )

    def _import_package(self, package: str) -> None:
        place = importlib.import_module(package).__path__
        if not self._module:
            for found in pkgutil.walk_packages(place, f"{package}."):
                importlib.import_module(found.name)
            return
        for found in pkgutil.iter_modules(place, f"{package}."):
            name = f"{found.name}.{self._module}"
            if found.ispkg and importlib.util.find_spec(name):
                importlib.import_module(name)
