"""``docs``: the commands -> a Markdown page for each, and one that lists them.

The pages are made of the configurations, the registries and
:mod:`mpbert.foundation.command_help`, so they say what the program does; a test compares those in
``docs/commands`` with these.
"""

import argparse
import dataclasses
import importlib
import inspect
from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.command_examples import HELP
from mpbert.foundation.command_help import BEGIN, COMMANDS, COMMON, EXIT_CODES
from mpbert.foundation.config import CommandParser, positional
from mpbert.foundation.errors import OutputError
from mpbert.foundation.registry import Registry

_MARK = "<!-- written by mpbert docs -->"
_INDEX = "README.md"


@dataclass(frozen=True)
class Config:
    """Write a Markdown page for each command; what this wrote before is replaced."""

    output: Path = positional("output", "folder to write, such as docs/commands")


def run(config: Config) -> None:
    """Write the pages, and take away those of commands that are no more; print how many.

    :raises OutputError: the folder cannot be written to.
    """
    try:
        config.output.mkdir(parents=True, exist_ok=True)
        for old in config.output.glob("*.md"):
            if old.read_bytes().startswith(_MARK.encode()):
                old.unlink()
        found = pages()
        for name, text in found.items():
            (config.output / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"{config.output}: cannot be written ({error.strerror}); choose another folder"
        ) from error
    print(f"{config.output}: {len(found)} pages")


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    return {_INDEX: _index(), **{_file_of(name): _page(name) for name in COMMANDS}}


def _file_of(name: str) -> str:
    """Return the name of a command's page; a site would show index.md in place of README.md."""
    return "mpbert-index.md" if name == "index" else f"{name}.md"


def _index() -> str:
    lines = [_MARK, "# Commands", "", f"Begin with `{BEGIN}`. In the order of work:", ""]
    lines += ["| command | what it does |", "|---|---|"]
    rows = [(name, _file_of(name), _cell(what)) for name, what in COMMANDS.items()]
    lines += [f"| [`{name}`]({file}) | {what} |" for name, file, what in rows]
    lines += ["", "All of them take these too:", "", *_options(COMMON.items())]
    lines += ["", "Exit codes:", "", "| | |", "|--:|---|"]
    lines += [f"| {code} | {text} |" for code, text in EXIT_CODES.items()]
    return "\n".join(lines) + "\n"


def _page(name: str) -> str:
    module = importlib.import_module("mpbert.commands." + name.replace("-", "_"))
    parser = CommandParser(module.Config, name)
    lines = [_MARK, f"# mpbert {name}", "", inspect.cleandoc(module.Config.__doc__)]
    if name in HELP:
        found = HELP[name]
        lines += ["", "```bash", found.example, "```", ""]
        lines += [f"* Reads {found.reads}.", f"* Writes {found.writes}."]
    actions = [action for action in parser._actions if action.dest != "help"]
    actions.sort(key=lambda action: bool(action.option_strings))  # what has no flag stands first
    lines += ["", *_options((_flag(action), _meaning(action)) for action in actions)]
    lines += ["", f"[Flags of all commands, exit codes]({_INDEX})."]
    if name in ("build-corpus", "index", "add"):
        lines += ["", "Values of `--reader`: `docs/formats.md`."]
    if name in (of := _registries()):
        family = of[name].family.partition(" ")[0]
        lines += ["", f"## Values of --{family}", "", *_members(of[name])]
    return "\n".join(lines) + "\n"


def _registries() -> dict[str, Registry]:
    """Return the family whose members a command offers."""
    from mpbert.methods.embedding import EMBEDDERS
    from mpbert.methods.lexical.method import LEXICAL
    from mpbert.methods.reranking import RERANKERS

    return {"fit": EMBEDDERS, "rerank": RERANKERS, "retrieve": LEXICAL}


def _members(registry: Registry) -> list[str]:
    """Return a line for each member, and one of its settings with defaults where it has some."""
    lines = []
    for name in registry.names():
        member = registry[name]
        lines.append(f"* **{name}**: {inspect.getdoc(member).partition(chr(10))[0]}")
        fields = dataclasses.fields(member) if dataclasses.is_dataclass(member) else ()
        if settings := [_setting(field) for field in fields]:
            lines.append(f"  Settings: {', '.join(settings)}.")
    return lines


def _setting(field: dataclasses.Field) -> str:
    choices = "".join(f" or {c}" for c in field.metadata.get("choices", ()) if c != field.default)
    return f"`{field.name}={field.default}`{choices}"


def _flag(action: argparse.Action) -> str:
    if not action.option_strings:
        return action.dest.upper()
    flag = action.option_strings[0]
    if action.nargs == 0:
        return flag
    value = "{" + ",".join(action.choices) + "}" if action.choices else action.dest.upper()
    return f"{flag} {value}{' ...' if action.nargs in ('+', '*') else ''}"


def _meaning(action: argparse.Action) -> str:
    text = action.help.replace("%%", "%")
    if action.choices and not action.option_strings:
        text += f": {', '.join(action.choices)}"
    return text


def _options(rows: object) -> list[str]:
    return ["| | |", "|---|---|", *(f"| `{_cell(name)}` | {_cell(text)} |" for name, text in rows)]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
