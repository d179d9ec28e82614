"""A model's trees as a graph in the DOT language of Graphviz, in the features' units."""

from __future__ import annotations

from ..base.text import printable
from .frozen import trees_of
from .model_files import OpenModel
from .trees import Leaf, Tree


def exported(model: OpenModel) -> tuple[bytes, str]:
    """Return the graph, with a cluster for each tree, and a note on its limits.

    Raises UserError if the model has no trees.
    """
    _, trees = trees_of(model)
    stream = printable(model.file.stream)
    lines = [
        "digraph microshrub {",
        f"  label={_quoted(f'{model.file.learner} of {stream}')};",
        "  node [shape=box];",
    ]
    for number, tree in enumerate(trees):
        lines += _cluster(number, tree, len(trees) > 1)
    lost = "It is for people to read: codes and naive Bayes statistics are left out."
    return ("\n".join(lines) + "\n}\n").encode(), lost


def _cluster(number: int, tree: Tree, named: bool) -> list[str]:
    lines = [f"  subgraph cluster_{number} {{"]
    if named:
        lines.append(f"    label={_quoted(f'shrub {number + 1}: weight {tree.weight:.2f}')};")
    waiting, count = [(tree.root, "", "")], 0
    while waiting:
        node, parent, word = waiting.pop()
        name = f"t{number}n{count}"
        count += 1
        if isinstance(node, Leaf):
            lines.append(f"    {name} [label={_quoted(node.text)}, style=rounded];")
        else:
            lines.append(f"    {name} [label={_quoted(node.tests[0])}];")
            waiting += [(node.above, name, "no"), (node.below, name, "yes")]
        if parent:
            lines.append(f"    {parent} -> {name} [label={word}];")
    return [*lines, "  }"]


def _quoted(text: str) -> str:
    """Return a quoted string in DOT, in which a backslash would begin an escape."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
