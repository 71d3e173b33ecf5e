"""One registry per family: names to classes, listed sorted, with the closest name suggested."""

import importlib
import importlib.util
import logging
import pkgutil
import re
from collections.abc import Iterator
from typing import Generic, TypeVar

from mpbert.foundation.errors import ConfigError, closest

T = TypeVar("T", bound=type)
logger = logging.getLogger(__name__)
# a class that registers, up to its name: lines of a body are empty or begin with a space
_MEMBER = re.compile(
    r"^@\w+\.register\n(?:@.*\n)*class .*:\n(?:(?: .*)?\n)*?"
    r" +name(?:: .*)? = [\"'](\w+)[\"']$",
    re.MULTILINE,
)


class Registry(Generic[T]):
    """A family of classes that have one interface and a ``name``.

    Members are found by where they are. Names are read from the sources of these modules, so that
    no help waits for imports, and a look at a member imports its module alone.

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
        self._modules_of: dict[str, str] = {}  # of names that were read from sources

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
        if self._package and not self._modules_of:
            for module in self._modules(self._package):
                self._modules_of.update(dict.fromkeys(_names_in(module), module))
        self._load_group()
        return sorted(self._modules_of.keys() | self._members.keys())

    def __getitem__(self, name: str) -> T:
        """Return the class called ``name``.

        :raises ConfigError: there is none; the message lists all names and suggests the closest.
        """
        names = self.names()
        if name not in names:
            raise ConfigError(
                f"unknown {self.family} {name!r}; expected one of {', '.join(names)}"
                f"{closest(name, names)}"
            )
        if name not in self._members:
            importlib.import_module(self._modules_of[name])
        return self._members[name]

    def _import_package(self) -> None:
        package, self._package = self._package, ""
        if package:
            for module in self._modules(package):
                importlib.import_module(module)

    def _load_group(self) -> None:
        """Load what other packages bring; one that fails is left out, and the log says so."""
        group, self._group = self._group, ""
        if not group:
            return
        import importlib.metadata  # longer than all else here, and few registries look

        for found in importlib.metadata.entry_points(group=group):
            self._import_package()  # first: a name that is taken is refused to the other package
            try:
                self._load_inside(found.load())
            except Exception as error:  # of the other package: the rest works without it
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                package = found.dist.name if found.dist else "?"
                logger.warning(
                    "%s %r of the installed package %s: left out, since it cannot be loaded (%s); "
                    "mend or uninstall that package",
                    *(self.family, found.name, package, reason),
                )

    def _load_inside(self, loaded: object) -> None:
        """Import the module of a package where members of this family lie, if it has one."""
        name = f"{getattr(loaded, '__name__', '')}.{self._module}"
        if self._module and hasattr(loaded, "__path__") and importlib.util.find_spec(name):
            importlib.import_module(name)

    def _modules(self, package: str) -> Iterator[str]:
        """Yield the names of the modules that may hold members."""
        place = importlib.import_module(package).__path__
        if not self._module:
            yield from (found.name for found in pkgutil.walk_packages(place, f"{package}."))
            return
        for found in pkgutil.iter_modules(place, f"{package}."):
            name = f"{found.name}.{self._module}"
            if found.ispkg and importlib.util.find_spec(name):
                yield name


def _names_in(module: str) -> list[str]:
    """Return the names of the classes of a module that register, if need be by importing it."""
    spec = importlib.util.find_spec(module)
    source = getattr(spec.loader, "get_source", lambda _: None)(module) if spec else None
    names = _MEMBER.findall(source or "")
    # none is there, or one registers not as a decorator, or by a name that is no literal
    if source is None or len(names) != source.count(".register"):
        importlib.import_module(module)
    return names
