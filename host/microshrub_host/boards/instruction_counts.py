"""Instructions of a predict and a learn on emulated boards, exact and the same in every run.

The calls are as in a program on the board: model.predict(x) and model.learn(x, label), with the
checks of the arguments. The model learns for a while before the count begins.
"""

from __future__ import annotations

import ast
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.debian_packages import Progress
from ..library import library_files, loader
from ..library.library_files import user_learners
from ..programs import mpy, native_files
from ..streams.stream import modules_by_need
from . import ram_budget
from .counted_models import CountedModel
from .emulated_boards import board_named
from .emulator import EmulatedBoard, EmulatedBoardError

SECONDS = 600  # time limit of a run on the board
_OFTEN = "import gc\ngc.threshold(4096)"  # collecting often keeps the heap in one piece

_QUICK = """from microshrub.thicket.decide import decide
run.model.predict = lambda x: decide(run.model, x)"""

_SMALL = 65536  # bytes of a thicket that does not look back further and has no large trees
_UNCALLED = {
    "thicket.members": ("ask_twice", "copy"),  # only for larger thickets
    "thicket.vote_mixing": ("judge_lookback",),
    "thicket.trees": ("hang", "descend_far"),
    "thicket.drift_response": (  # no range grows in a count
        *("move_samples", "move_grove", "move_trees", "move_bayes", "move_softmax"),
        *("rescaled", "move_thicket", "leave_unit", "is_new_unit", "are_outside"),
    ),
    "shrub.moving": ("move_shrubs",),
}

_FEATURES = ("device.__init__", *modules_by_need(None))
# parts of programs that a count lacks: the input is codes, without metrics
_NOT_MEASURED = ("quantizer", "metrics", "target")

# ticks of the boards' timers, of 16, 25 and 10 MHz, in an instruction of 2**10 ns
TICKS = {"cortex-m0": 16.384, "rv32": 10.24} | dict.fromkeys(
    ("cortex-m3", "cortex-m4", "cortex-m7"), 25.6
)

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class InstructionCost:
    """Instructions of each predict and each learn; `crc` is the model's CRC afterwards."""

    predict: Counts
    learn: Counts
    crc: int


# The call tree of the kernels of a learning shrub ensemble, two blanks for each level.
KERNELS = """\
check_row
  same_items
whole
predict
  descend
slide
follow
train
  grow
    plant
    weigh
    draw
    scan
    settle
      fill_leaf
    move
  gradient_step
  project
mix""".splitlines()


def learned_on_pc(what: CountedModel) -> int:
    """Return the CRC of the model after learning the whole stream in the simulator."""
    model = getattr(loader.load(loader.fastest()), what.learner)(**what.parameters)
    codes = array("H", what.codes.tobytes())
    labels = bytearray(what.labels.tobytes())
    model.run(codes, labels, bytearray(len(labels)))
    return int(model.state_crc32()) & 0xFFFFFFFF


class Counter:
    """`with Counter("cortex-m0", configurations()) as counter: counter.count(0)`.

    An emulated board with the library, the streams of the configurations and the program that
    counts. `progress` receives a line of text before each step. `warmup` overrides the number of
    samples that a model learns before the count, for each stream or for all. With `native`, the
    kernels are in a native module, the kernels of count_features() only with `features`; raises
    NoNativeTools.
    """

    def __init__(
        self,
        board: str,
        whats: Sequence[CountedModel],
        *,
        warmup: int | Sequence[int] | None = None,
        progress: Progress | None = None,
        native: bool = False,
        features: bool = False,
    ) -> None:
        arch = board_named(board).arch
        program = Path(__file__).parent / "on_board" / "count.py"
        windows = set(library_files.closure(_FEATURES))
        if native:
            used = {*_imported(whats), *(windows if features else ())}
            compiled = native_files.compiled(arch, used)
        else:
            compiled = mpy.compiled(arch)
        # the rest of a program is never called, and each file takes some heap
        library = [
            file
            for file in compiled
            if (name := library_files.module_name(file)) in windows or "device." not in name
        ]
        # without modules that are entirely in a native module
        self._modules = set(map(library_files.module_name, library))
        files = {f"/{mpy.in_library(file)}": file for file in library}
        files["/count.mpy"] = mpy.compiled_program(program, arch)
        data = {path: file.read_bytes() for path, file in files.items()}
        for name, stub in () if native else _stubs(whats, arch):
            data[f"/{mpy.in_library(library_files.source_of(name))}"] = stub
        for i, what in enumerate(whats):
            data[f"/codes{i}"] = what.codes.astype("<u2").tobytes()
            data[f"/labels{i}"] = what.labels.tobytes()
        self._whats = whats
        if warmup is None:
            warmup = [what.warmup for what in whats]
        self._warmups = [warmup] * len(whats) if isinstance(warmup, int) else warmup
        self._board = EmulatedBoard(board, data, progress)

    def __enter__(self) -> Counter:
        self._board.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._board.__exit__()

    def count(
        self,
        which: int,
        learner: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        asked: bool = False,
        quick: bool = False,
    ) -> InstructionCost:
        """Count the instructions of each predict and learn of a configuration or another model.

        The other model is of the given class with the given parameters, and learns the
        configuration's stream. With `asked`, learn() may reuse predict()'s results for the same
        sample; with `quick`, decide() of thicket/decide.py predicts.
        """
        self._start(which, learner, parameters)
        if quick:
            self._board.exec(_QUICK)
        crc, empty, (predict, learn) = self._ask(f"run.count({int(asked)})")
        return InstructionCost(
            self._instructions(predict - empty), self._instructions(learn - empty), crc
        )

    def count_kernel(self, which: int, name: str) -> tuple[Counts, Counts]:
        """Count the instructions of one kernel, with its callees, and its calls, in each learn."""
        self._start(which)
        _, empty, (ticks, calls) = self._ask(f"run.count_kernel({name!r}, {_arguments(name)})")
        return self._instructions(ticks - calls * empty), calls

    def count_anomaly(self, which: int, detector: str = "AnomalyScore") -> tuple[Counts, int]:
        """Count the instructions of each update() of an anomaly score; return its CRC, too.

        The score's window is full, and its input is the configuration's stream. With the detector
        NoveltyDetector, the method is meet(), with a label that follows from the sample.
        """
        what = self._whats[which]
        samples, features = what.codes.shape
        call = (
            f"count_anomaly('/codes{which}', {features}, {what.warmup}, {samples}, {detector!r})"
        )
        return self._counted(call)

    def count_queries(self, which: int) -> tuple[Counts, Counts, int]:
        """Count the instructions of each ask() and note() of a QueryStrategy; return its CRC, too.

        The codes of the configuration's stream represent votes.
        """
        samples, classes = self._whats[which].codes.shape
        both, crc = self._counted(f"count_queries('/codes{which}', {classes}, {samples})")
        return both[:samples], both[samples:], crc

    def count_rehearsal(self, which: int) -> tuple[Counts, int]:
        """Count the instructions of each rehearse() of a thicket after its warm-up.

        The thicket is the configuration's. Returns also the CRC of its state.
        """
        what = self._whats[which]
        model = f"microshrub.{what.learner}(**{dict(what.parameters)!r})"
        call = f"'/codes{which}', '/labels{which}', {model}, {what.warmup}, {len(what.codes)}"
        self._board.exec(f"{_OFTEN}\nimport microshrub")
        self._import(what.learner, what.parameters)
        return self._counted(f"count_rehearsal({call})")

    def count_numbers(self, which: int, target: Mapping[str, Any]) -> tuple[Counts, int]:
        """Count the instructions of each sample of a Forecaster; return its learner's CRC, too.

        target has the Forecaster's parameters; the codes of the configuration's stream are its
        values.
        """
        what = self._whats[which]
        model = f"{what.learner!r}, {dict(what.parameters)!r}, {dict(target)!r}"
        call = f"count_numbers({model}, '/codes{which}', {what.warmup}, {len(what.codes)})"
        return self._counted(call)

    def count_features(self, which: int, options: Mapping[str, Any]) -> tuple[Counts, int]:
        """Count the instructions of each reading of a FeatureExtractor; return its samples' CRC.

        options are the extractor's parameters; the configuration's codes, less 2**15, are the
        readings.
        """
        readings, channels = self._whats[which].codes.shape
        call = f"count_features({dict(options)!r}, {channels}, '/codes{which}', {readings})"
        return self._counted(call)

    def _counted(self, call: str) -> tuple[Counts, int]:
        """Return the output of a function of the board's program: instructions, and a CRC."""
        self._board.exec(f"from count import {call.partition('(')[0]}")
        ticks, empty, crc = self._board.exec(call, SECONDS).split()
        counts = np.frombuffer(bytes.fromhex(ticks), "<i4").astype(np.int64) - int(empty)
        return self._instructions(counts), int(crc)

    def _start(
        self, which: int, learner: str | None = None, parameters: Mapping[str, Any] | None = None
    ) -> None:
        """Make `run` on the board, with a new model that has learned the first samples."""
        what = self._whats[which]
        files = f"'/codes{which}', '/labels{which}'"
        self._board.exec(f"{_OFTEN}\nfrom count import Run\nrun = None\ngc.collect()")
        if learner:
            self._import(learner, parameters or what.parameters)
        model = f"{(learner or what.learner)!r}, {dict(parameters or what.parameters)!r}"
        self._board.exec(f"run = Run({model}, {files}, {self._warmups[which]})", SECONDS)

    def _import(self, learner: str, parameters: Mapping[str, Any]) -> None:
        """Let the board import a learner's modules one by one, so its heap stays in one piece."""
        begin = "import gc"
        for user_learner in user_learners():
            begin += "\nfrom microshrub.learners import register"
            begin += f"\nregister({user_learner.name!r}, {user_learner.module!r})"
        for module in ram_budget.modules_of(learner, dict(parameters)):
            if module in self._modules and module not in _NOT_MEASURED:
                begin += f"\nimport microshrub.{module}"
        self._board.exec(f"{begin}\ngc.collect()")

    def _ask(self, code: str) -> tuple[int, int, tuple[Counts, Counts]]:
        """Return the board's output: the model's CRC, ticks of an empty step, two columns."""
        output = self._board.exec(code, SECONDS)
        try:
            *blocks, last = (line.split() for line in output.splitlines())
            empty, crc = map(int, last)
            columns = [
                np.frombuffer(bytes.fromhex("".join(block[i] for block in blocks)), "<i4")
                for i in (0, 1)
            ]
        except (ValueError, IndexError) as error:
            raise EmulatedBoardError(
                f"the board printed no counts but {output[:200]!r}"
            ) from error
        return crc, empty, (columns[0].astype(np.int64), columns[1].astype(np.int64))

    def _instructions(self, ticks: Counts) -> Counts:
        counts: Counts = np.rint(ticks / TICKS[self._board.emulator.board.name]).astype(np.int64)
        return counts


def _stubs(whats: Sequence[CountedModel], arch: str) -> Iterator[tuple[str, bytes]]:
    """Yield modules without the bodies of functions that thickets of up to 64 KB never call.

    A program from `build` does not have these bodies either, and a board has no room for them.
    """
    if any(what.learner != "Thicket" or what.parameters["bytes"] > _SMALL for what in whats):
        return
    for name, uncalled in _UNCALLED.items():
        tree = ast.parse(library_files.source_of(name).read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in uncalled:
                node.decorator_list, node.body = [], [ast.Pass()]
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "stub.mpy"
            mpy.compile_text(ast.unparse(tree), target, arch, f"{name}.py")
            yield name, target.read_bytes()


def _imported(whats: Sequence[CountedModel]) -> list[str]:
    """Return the library's modules that programs with these models import."""
    parts = (ram_budget.modules_of(what.learner, what.parameters) for what in whats)
    return library_files.closure(module for part in parts for module in part)


def _arguments(name: str) -> int:
    """Return the number of a kernel's arguments: of a shrub's kernel, or else of a shared one.

    Other modules may have a kernel of the same name.
    """
    shared, shrub = (
        [path for path in library_files.sources() if path.parent.name == room]
        for room in (library_files.PACKAGE, "shrub")
    )
    for path in shrub + shared:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return len(node.args.args)
    raise ValueError(f"there is no kernel {name}")
