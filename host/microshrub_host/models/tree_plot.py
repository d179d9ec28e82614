"""A tree as a picture: it grows to the right, with its leaves below each other.

All sizes are in inches, which are also the units of the axes.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

from ..base.errors import UserError
from .trees import Leaf, Node, Split, Tree, depth, leaves

_MOST_LEAVES = 1000
_MOST_PIXELS = 16_000  # pixels of a side
_DPI = 110
_FONT = 9  # points
_ROW, _BOX, _PAD = 0.36, 0.25, 0.07  # leaf to leaf, a box's height, left and right of its text
_WIDER = 1.06  # ratio of a drawn text's width to its outline's
_GAP = 0.75  # between two levels, for the edges
_BAR = 0.5  # length of a leaf's bar
_MARGIN, _TITLE = 0.2, 0.45
_THIN, _THICK = 0.6, 6.0  # points: an edge without samples, an edge with all samples


@dataclass(frozen=True)
class _Place:
    """A node with the left end and the middle of its box, and the places of its children."""

    node: Node
    left: float
    middle: float
    width: float
    children: tuple[_Place, ...] = ()


def plotted(tree: Tree, title: str, classes: int, file_format: str) -> bytes:
    """Draw the tree as "png", "svg" or "pdf". Raises UserError if it has too many leaves."""
    import matplotlib

    data = io.BytesIO()
    # An SVG keeps text as text, and equal trees make equal files.
    look = matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "microshrub"})
    with look, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # drawn as boxes
        figure = draw_tree(tree.root, title, classes)
        dpi = min(_DPI, _MOST_PIXELS / max(figure.get_size_inches()))
        metadata = {"Date": None} if file_format == "svg" else None
        figure.savefig(data, format=file_format, dpi=dpi, metadata=metadata)
    return data.getvalue()


def draw_tree(root: Node, title: str, classes: int) -> Any:
    """Return the figure for plotted(), as large as the tree needs."""
    from matplotlib.figure import Figure

    rows = sum(1 for _ in leaves(root))
    if rows > _MOST_LEAVES:
        raise UserError(
            f"the tree has {rows:,} leaves, and a picture has room for {_MOST_LEAVES:,}: "
            "--depth N draws its upper part"
        )
    columns = _columns(root)
    height = _TITLE + rows * _ROW + _MARGIN
    width = max(columns[-1] + _MARGIN, _width(title) * 1.2 + 2 * _MARGIN)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    _write(axes, _MARGIN, _MARGIN, title, size=_FONT + 2)
    _draw(axes, _place(root, columns, 0, [0]), max(root.samples, 1), classes)
    return figure


def _width(text: str, size: float = _FONT) -> float:
    """Return the width of a text."""
    from matplotlib.textpath import TextPath

    extent = TextPath((0, 0), text.replace("$", "S"), size=size).get_extents() if text else None
    return float(extent.width) / 72 * _WIDER if extent else 0.0


def _box_width(node: Node) -> float:
    return _width(node.name if isinstance(node, Leaf) else node.tests[0]) + 2 * _PAD


def _columns(root: Node) -> list[float]:
    """Return the left end of each level, followed by the right end of the drawing."""
    columns, level = [_MARGIN], [root]
    right = 0.0
    while level:
        boxes = [_box_width(node) for node in level]
        for node, box in zip(level, boxes, strict=True):
            note = _BAR + 2 * _PAD + _width(node.note) if isinstance(node, Leaf) else 0
            right = max(right, columns[-1] + box + note)
        splits = [node for node in level if isinstance(node, Split)]
        inner = [_box_width(node) for node in splits]
        columns.append(columns[-1] + max(inner, default=0) + _GAP)
        level = [child for node in splits for child in (node.below, node.above)]
    return [*columns[: depth(root) + 1], right]


def _place(node: Node, columns: list[float], level: int, used: list[int]) -> _Place:
    """Return the place of a node and of all nodes below it; used[0] counts the leaves' rows."""
    left, width = columns[level], _box_width(node)
    if isinstance(node, Leaf):
        middle = _TITLE + (used[0] + 0.5) * _ROW
        used[0] += 1
        return _Place(node, left, middle, width)
    children = tuple(_place(child, columns, level + 1, used) for child in (node.below, node.above))
    return _Place(node, left, sum(c.middle for c in children) / 2, width, children)


def _draw(axes: Any, place: _Place, total: int, classes: int) -> None:
    node = place.node
    for child, word in zip(place.children, ("yes", "no"), strict=False):
        _draw_edge(axes, place, child, word, total)
        _draw(axes, child, total, classes)
    colour = _colour(node, classes)
    _draw_box(axes, place, colour)
    if isinstance(node, Leaf):
        _write(axes, place.left + _PAD, place.middle, node.name)
        if node.share:
            _draw_share(axes, place.left + place.width + _PAD, place.middle, node, colour)
    else:
        _write(axes, place.left + _PAD, place.middle, node.tests[0])


def _draw_box(axes: Any, place: _Place, colour: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (place.left, place.middle - _BOX / 2)
    face = "white" if colour is None else _tint(colour)
    style = "round,pad=0,rounding_size=0.05"
    edge = "0.4" if colour is None else colour
    axes.add_patch(
        FancyBboxPatch(corner, place.width, _BOX, style, facecolor=face, edgecolor=edge, zorder=2)
    )


def _draw_share(axes: Any, left: float, middle: float, leaf: Leaf, colour: Any) -> None:
    from matplotlib.patches import Rectangle

    corner, height = (left, middle - 0.05), 0.1
    axes.add_patch(Rectangle(corner, _BAR, height, facecolor=_tint(colour), zorder=2))
    axes.add_patch(Rectangle(corner, _BAR * float(leaf.share), height, facecolor=colour, zorder=2))
    _write(axes, left + _BAR + _PAD, middle, leaf.note)


def _draw_edge(axes: Any, parent: _Place, child: _Place, word: str, total: int) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    start, end = parent.left + parent.width, child.left
    bend = end - _GAP / 2
    points = [(start, parent.middle), (end - _GAP, parent.middle)]
    points += [(bend, parent.middle), (bend, child.middle), (end, child.middle)]
    curve = Curve(points, [Curve.MOVETO, Curve.LINETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4])
    width = _THIN + (_THICK - _THIN) * child.node.samples / total
    axes.add_patch(PathPatch(curve, facecolor="none", edgecolor="0.7", linewidth=width, zorder=1))
    box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    middle = (parent.middle + child.middle) / 2
    _write(axes, bend, middle, word, size=_FONT - 2, ha="center", color="0.3", bbox=box)


def _write(axes: Any, x: float, y: float, text: str, size: float = _FONT, **look: Any) -> None:
    axes.text(x, y, text, fontsize=size, va="center_baseline", parse_math=False, **look)


def _colour(node: Node, classes: int) -> Any:
    """Return the colour of a leaf's class; None for a split and for leaves cut off."""
    import matplotlib

    if isinstance(node, Split) or node.label < 0:
        return None
    if classes <= 20:
        return matplotlib.colormaps["tab10" if classes <= 10 else "tab20"](node.label)[:3]
    return matplotlib.colormaps["turbo"](node.label / (classes - 1))[:3]


def _tint(colour: Any) -> Any:
    return tuple(1 - 0.25 * (1 - part) for part in colour)
