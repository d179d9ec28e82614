"""Custom sensors: one file with one class each, see firmware's device/custom_sensor.py.

The file is for the board and may import modules that a PC does not have: it is parsed, not run.
The drivers that come with this package are classes of drivers.py; each class becomes such a file.
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from microshrub_host.base.cache import compiled_folder, kept
from microshrub_host.base.errors import UserError
from microshrub_host.library.syntax_tree import source_text
from microshrub_host.programs.merged_source import Merged
from microshrub_host.programs.unused_code import used

REQUIRED = object()  # a setting without a default
_DRIVERS = Path(__file__).with_name("drivers.py")
_NEXT_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EXAMPLE = 'one with names = ("light", "dark"), __init__(self, board) and read(self, values)'
# names of MicroPython's modules and a build's files: the board would import these instead
_TAKEN = ("main", "config", "microshrub", "micropython", "machine", "array", "time", "json", "os")


@dataclass(frozen=True)
class SensorFile:
    """The sensor class in a file."""

    name: str
    names: tuple[str, ...]  # names of the values of a reading
    settings: dict[str, Any]  # the constructor's parameters, with their defaults or REQUIRED


def read(path: Path) -> SensorFile:
    """Return the sensor in a file. Raises UserError that states what is missing."""
    name = f"--sensor {path}"
    if not path.stem.isidentifier() or path.stem in _TAKEN:
        raise UserError(
            f"{name}: the board would import it as {path.stem}. Give the file another name, such "
            "as my_sensor.py"
        )
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{name}: it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{name}: it is not a text in UTF-8") from None
    except SyntaxError as error:
        raise UserError(f"{name}, line {error.lineno}: {error.msg}") from None
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    result = [each for each in classes if _method(each, "read")]
    if len(result) != 1:
        what = "no class" if not result else f"{len(result)} classes"
        raise UserError(f"{name} has {what} with a method read. It has to have {_EXAMPLE}")
    return _sensor(name, result[0])


def drivers() -> tuple[str, ...]:
    """Return the names of the included drivers, sorted: "soil_probe" is SoilProbe."""
    return tuple(sorted(_classes()))


def driver(name: str) -> Path:
    """Return the file of the named driver: the class, with the functions and constants it uses."""
    text = _driver_text(name)
    home = compiled_folder("drivers", hashlib.sha256(text.encode()).digest())
    return kept(home / f"{name}.py", lambda part: part.write_text(text, encoding="utf-8"))


@cache
def _classes() -> dict[str, str]:
    tree = ast.parse(_DRIVERS.read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return {_NEXT_WORD.sub("_", name).lower(): name for name in names}


@cache
def _driver_text(name: str) -> str:
    home, class_name = _DRIVERS.stem, _classes()[name]
    merged = Merged({home: _DRIVERS.read_text(encoding="utf-8")}, [home], {class_name: home}, {})
    return source_text(ast.Module(used(merged.body, {class_name, "read"}), []))


def _sensor(file: str, sensor_class: ast.ClassDef) -> SensorFile:
    where = f"{file}, class {sensor_class.name}"
    reading = _method(sensor_class, "read")
    if reading is None or len(reading.args.args) != 2:
        raise UserError(f"{where}: its method has to be read(self, values)")
    if not any(isinstance(node, ast.Return) and node.value for node in ast.walk(reading)):
        raise UserError(
            f"{where}: its read has to return True if there is a reading, and False if not"
        )
    made = _method(sensor_class, "__init__")
    if made is None or len(made.args.args) - len(made.args.defaults) < 2:
        raise UserError(f"{where}: its __init__ has to take the board: __init__(self, board)")
    return SensorFile(sensor_class.name, _names(where, sensor_class), _settings(where, made))


def _method(sensor_class: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    for node in sensor_class.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    return None


def _names(where: str, sensor_class: ast.ClassDef) -> tuple[str, ...]:
    """Return the texts that the class's body assigns to `names`."""
    for node in sensor_class.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "names" for target in targets):
            assert isinstance(node, ast.Assign)
            literal = _literal(node.value)
            if isinstance(literal, (tuple, list)) and literal and all(map(_is_text, literal)):
                return tuple(literal)
    raise UserError(
        f'{where}: it has to name the values of a reading, in texts: names = ("light", "dark")'
    )


def _settings(where: str, made: ast.FunctionDef) -> dict[str, Any]:
    """Return the constructor's parameters after `board`, with their defaults."""
    parameters = [each.arg for each in (*made.args.args[2:], *made.args.kwonlyargs)]
    if "rate" in parameters:
        raise UserError(f"{where}: rate= is the readings a second; call the parameter otherwise")
    defaults: list[Any] = [_literal(value) for value in made.args.defaults]
    defaults = [REQUIRED] * (len(made.args.args) - 2 - len(defaults)) + defaults
    defaults += [_literal(value) if value else REQUIRED for value in made.args.kw_defaults]
    return dict(zip(parameters, defaults, strict=True))


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:  # a computed default, which the board evaluates
        return None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""
