"""Tables of pages that are filled from results files, so that no figure is typed by hand.

A marker stands in the page, before its table. It is a comment that holds YAML::

    <!-- results
    file: reports/rfc.json            # of mpbert report, beside the page
    rows: [chance, token_bag]         # names, in this order; left out: all of the report
    columns:                          # head of a column: what stands there; left out: as before
      "P ≥ 1": Recall@10 P>=1 / MAP@10 P>=1
      "ACL": reports/acl.json MAP@10 P>=1
      "CPU s": CPU s
    -->

The cell of a column is one or several of these, with `` / `` between them:

* a column of a table of the report, such as ``Recall@10 P>=2`` or ``MAP@10 unseen``, in %; with
  ``±`` behind it also half of the interval over seeds, where there are several
* a measure of whole runs, such as ``F1@20``, in %
* ``published MRR``: what the paper of a row prints; ``published corpus`` is of what
* ``CPU s``, ``peak GiB``: from ``rfc.cost.json``, which is ``cost.json`` beside that report

A row is a name, several with ``|`` between them (the first that a file has), or ``name: title``.
The largest of a column of the report is bold, unless ``bold: false`` stands there. What a file does
not have is ``-``; a row that no file has is an error. Scores of a trained row that has one seed end
with ``¹``, those of two seeds with ``²``; costs of a row whose steps saw a GPU end with ``³``.

Other markers:

* ``claims: {RFC: reports/rfc.json, ACL: reports/acl.json}``: the claims that were tested
* ``paper_table: reports/acl.json NAME``, ``paper_tests: ...``: a table of a paper, its tests
* ``sheet: reports/benchmarks.md TITLE`` copies the table below the heading that begins so; ``rows``
  are then the beginnings of the rows to copy, left out: all
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.option_files import load_yaml

_MARKER = re.compile(r"^<!-- results\n((?:(?!-->).*\n)*)-->\n(?:\n?(?:\|.*\n)+)?", re.MULTILINE)
_START = re.compile(r"^<!-- *results\b", re.MULTILINE)  # of a marker, whole or not
_KEYS = {"file", "rows", "columns", "bold", "claims", "paper_table", "paper_tests", "sheet"}
_STATEMENTS = {"claims", "paper_table", "paper_tests"}
_SEEDS = {"one seed": "¹", "two seeds": "²"}
_COST = {"CPU s": ("cpu_seconds", 1, ",.0f"), "peak GiB": ("peak_mib", 1024, ",.1f")}
_GPU = "³"  # after the cost of a row whose steps saw a GPU
Load = Callable[[str], Any]  # the content of a file by its name beside the page


@dataclass(frozen=True)
class Cell:
    """One part of a cell: a text, and whether it is the largest of its column."""

    text: str
    is_best: bool = False


def fill_tables(page: str, load: Load, source: str) -> str:
    """Return a page with the table below each marker made anew.

    :param load: gives what a JSON file holds, and the text of any other; raises
        :class:`ConfigError`.
    :param source: what the messages call the page.
    :raises ConfigError: a marker is wrong, or names what a file does not have.
    """
    whole = {found.start() for found in _MARKER.finditer(page)}
    if broken := [found.start() for found in _START.finditer(page) if found.start() not in whole]:
        raise ConfigError(
            f"{source}, line {_line(page, broken[0])}: found a marker that is not whole; expected "
            f"'<!-- results' and '-->', each alone on a line, and YAML between them"
        )

    columns: object = None  # of the table before

    def filled(found: re.Match[str]) -> str:
        nonlocal columns
        place = f"{source}, line {_line(page, found.start())}"
        marker = _marker(found[1], place)
        columns = marker.setdefault("columns", columns)
        try:
            table = "\n".join(_table(marker, load, place))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise ConfigError(
                f"{place}: a file that it names is no result ({type(error).__name__}: {error}); "
                f"expected report.json and cost.json of mpbert report"
            ) from error
        return f"<!-- results\n{found[1]}-->\n\n{table}\n"

    return _MARKER.sub(filled, page)


def count_markers(page: str) -> int:
    """Return the number of tables that are filled."""
    return len(_MARKER.findall(page))


def without_tables(page: str) -> str:
    """Return the rest of a page."""
    return _MARKER.sub("", page)


def cost_file(name: str) -> str:
    """Return the name of the file of costs beside that of a report."""
    return name.removesuffix(".json") + ".cost.json"


def _line(page: str, place: int) -> int:
    """Return the number of the line, from 1, in which a character stands."""
    return page.count("\n", 0, place) + 1


def _marker(text: str, place: str) -> dict[str, Any]:
    try:
        marker = load_yaml(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{place}: unreadable marker ({' '.join(str(error).split())})") from error
    if not isinstance(marker, dict) or not marker.keys() <= _KEYS:
        raise ConfigError(
            f"{place}: found {marker if not isinstance(marker, dict) else ', '.join(marker)}; "
            f"expected a marker of {', '.join(sorted(_KEYS))}"
        )
    return marker


def _table(marker: Mapping[str, Any], load: Load, place: str) -> list[str]:
    if "sheet" in marker:
        return _sheet(str(marker["sheet"]), marker.get("rows"), load, place)
    if found := _STATEMENTS & marker.keys():
        return _statements(found.pop(), marker, load)
    if not isinstance(marker["columns"], dict) or not marker["columns"]:
        raise ConfigError(f"{place}: found no columns; expected lines 'HEAD: MAP@10 P>=1'")
    columns = [_split(str(what), marker, place) for what in marker["columns"].values()]
    rows = _rows(marker.get("rows"), [file for file, _ in columns], load, place)
    bold = bool(marker.get("bold", True))
    lines = [
        "| | " + " | ".join(map(str, marker["columns"])) + " |",
        "|:--" + "|--:" * len(columns) + "|",
    ]
    for names, title in rows:
        cells = [_cell(file, parts, names, bold, load, place) for file, parts in columns]
        lines.append(f"| {title.replace('|', chr(92) + '|')} | " + " | ".join(cells) + " |")
    return lines


def _statements(kind: str, marker: Mapping[str, Any], load: Load) -> list[str]:
    """Return claims, or a table of a paper."""
    from mpbert.experiments import page_statements  # numpy, and --help need not wait

    if kind == "claims":
        return page_statements.claims_table({k: load(v) for k, v in marker[kind].items()})
    file, _, name = str(marker[kind]).partition(" ")
    return getattr(page_statements, kind)(load(file), name)


def _sheet(what: str, begins: Sequence[str] | None, load: Load, place: str) -> list[str]:
    """Return the table of a Markdown file below a heading, or some of its rows."""
    file, _, title = what.partition(" ")
    found = re.search(rf"^## {re.escape(title)}.*\n\n((?:\|.*\n)+)", str(load(file)), re.MULTILINE)
    if not title or not found:
        raise ConfigError(f"{place}: {file} has no table below a heading '## {title}'")
    head, rule, *rows = found[1].splitlines()
    for begin in begins or ():
        if not any(row.startswith(f"| {begin}") for row in rows):
            raise ConfigError(
                f"{place}: {file} has no row below '## {title}' that begins {begin!r}"
            )
    chosen = tuple(f"| {begin}" for begin in begins) if begins else "|"
    return [head, rule, *(row for row in rows if row.startswith(chosen))]


def _split(what: str, marker: Mapping[str, Any], place: str) -> tuple[str, list[str]]:
    """Return the file of a column and the parts of its cells."""
    file, _, rest = what.partition(" ")
    if not file.endswith(".json"):
        file, rest = str(marker.get("file", "")), what
    if not file or not rest:
        raise ConfigError(
            f"{place}: found {what!r}; expected a line 'file: NAME.json', or NAME.json before it"
        )
    return file, [part.strip() for part in rest.split(" / ")]


def _rows(
    given: object, files: Sequence[str], load: Load, place: str
) -> list[tuple[list[str], str]]:
    """Return the names of each row, one of which a file has, and its title."""
    titles: dict[str, str] = {}  # the first file that has a row gives its title
    for row in (row for file in files for row in load(file)["rows"]):
        titles.setdefault(row["name"], row["title"].removesuffix(f", {_few_seeds(row)}"))
    if given is None:
        return [([row["name"]], titles[row["name"]]) for row in load(files[0])["rows"]]
    if not isinstance(given, list):
        raise ConfigError(f"{place}: rows is {given!r}; expected a list of names")
    found = []
    for each in given:
        names, title = next(iter(each.items())) if isinstance(each, dict) else (each, None)
        names = str(names).split("|")
        known = [name for name in names if name in titles]
        if not known:
            raise ConfigError(
                f"{place}: none of {', '.join(dict.fromkeys(files))} has a row {names[0]}; "
                f"expected one of {', '.join(titles)}"
            )
        found.append((names, str(title or titles[known[0]])))
    return found


def _few_seeds(row: Mapping[str, Any]) -> str:
    """Return the words on a trained row of too few seeds, or nothing."""
    from mpbert.evaluation.seeds import too_few_seeds  # numpy, and --help need not wait

    return too_few_seeds(row["num_seeds"]) if row.get("is_trained") else ""


def _cell(
    file: str, parts: Sequence[str], names: Sequence[str], bold: bool, load: Load, place: str
) -> str:
    report = load(file)
    rows = {row["name"]: row for row in report["rows"]}
    known = [rows[name] for name in names if name in rows]
    if not known:
        return "-"
    if parts[0] in _COST:
        costs = load(cost_file(file)).get(known[0]["name"])
        key, unit, form = _COST[parts[0]]
        return format(costs[key] / unit, form) + _GPU * costs.get("gpu", False) if costs else "-"
    cells = [_part(report, part, known[0], f"{place}: {file}") for part in parts]
    text = " / ".join(cell.text for cell in cells)
    text = f"**{text}**" if bold and all(cell.is_best for cell in cells) else text
    is_score = not parts[0].startswith("published") and any(cell.text != "-" for cell in cells)
    return text + _SEEDS.get(_few_seeds(known[0]), "") if is_score else text


def _part(report: Mapping[str, Any], part: str, row: Mapping[str, Any], place: str) -> Cell:
    kind, _, key = part.partition(" ")
    if kind == "published":
        value = row.get("published", {}).get(key)
        return Cell("-" if value is None else value if key == "corpus" else _percent(value))
    column, with_seeds = part.removesuffix("±").strip(), part.endswith("±")
    values = _values(report, column, place)
    value = values.get(row["name"])
    if value is None:
        return Cell("-")
    is_best = value == max(v for v in values.values() if v is not None)
    seeds = report["seeds"].get(row["name"], {}).get(column) if with_seeds else None
    if seeds and seeds["half_width"] is not None:
        text = f"{_percent(seeds['mean'])} ± {_percent(seeds['half_width'])}"
        return Cell(text, is_best)
    return Cell(_percent(value), is_best)


def _values(report: Mapping[str, Any], column: str, place: str) -> dict[str, float | None]:
    """Return name of the row to its score in a column of a table, or of whole runs."""
    if column in report["of_runs"]:
        return report["of_runs"][column]
    for table in report["tables"].values():
        found = {row: cells[column] for row, cells in table["scores"].items() if column in cells}
        if found:
            return {row: cell["mean"] for row, cell in found.items()}
    known = [
        *report["of_runs"],
        *(c for t in report["tables"].values() for c in next(iter(t["scores"].values()))),
    ]
    raise ConfigError(f"{place} has no column {column!r}; expected one of {', '.join(known)}")


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"
