"""Nodes of TeX that pylatexenc has parsed: arguments, rows of a table, the first of a name."""

from collections.abc import Callable

from pylatexenc.latexwalker import (
    LatexEnvironmentNode,
    LatexMacroNode,
    LatexNode,
    LatexSpecialsNode,
)

_ROW_ENDS = ("\\", "tabularnewline", "cr")


def rows_of(nodes: list[LatexNode]) -> list[list[list[LatexNode]]]:
    """Return the rows of a table as cells, each the nodes that it holds."""
    rows: list[list[list[LatexNode]]] = [[[]]]
    for child in nodes:
        if isinstance(child, LatexSpecialsNode) and child.specials_chars == "&":
            rows[-1].append([])
        elif isinstance(child, LatexMacroNode) and child.macroname in _ROW_ENDS:
            rows.append([[]])
        else:
            rows[-1][-1].append(child)
    return rows


def text_or_nothing(convert: Callable[[LatexNode], str], node: LatexNode) -> str:
    r"""Return what pylatexenc makes of a node: nothing of \href and others without arguments."""
    try:
        return convert(node)
    except (AttributeError, LookupError, TypeError, ValueError):
        return ""


def arguments_of(node: LatexMacroNode) -> list[LatexNode]:
    """Return the arguments of a command, of which it has none as the argument of another."""
    return list(node.nodeargd.argnlist) if node.nodeargd else []


def first_node(nodes: list[LatexNode], kind: type[LatexNode], name: str) -> LatexNode | None:
    """Return the first command or environment of a name, also within environments."""
    for node in nodes:
        if isinstance(node, kind) and name in (
            getattr(node, "macroname", None),
            getattr(node, "environmentname", None),
        ):
            return node
        if isinstance(node, LatexEnvironmentNode):
            found = first_node(node.nodelist, kind, name)
            if found is not None:
                return found
    return None
