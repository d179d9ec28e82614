"""The family of Hoeffding trees: its members, and the figures of each on a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.library.learners import (
    check_parameters,
    defaults,
    learner,
    option,
    stream_parameters,
)
from microshrub_host.streams.stream import Stream

MODEL = "hoeffding"
WARMUP = 256

# Parameters of all members, unless a member has its own
SHARED: Mapping[str, Any] = {
    "depth": 10, "nodes": 255, "leaves": 32, "split_confidence": 1e-3, "tie_threshold": 0.1,
    "grace_period": 200, "adaptive": False, "bins": 16,
}  # fmt: skip
LEAVES = ("mc", "nb", "nba")


@dataclass(frozen=True)
class Member:
    """A member of the family: its name in the papers, its own parameters, and its leaf rules."""

    title: str
    parameters: Mapping[str, Any]
    leaves: Sequence[str] = LEAVES


MEMBERS = {
    "bayes": Member("naive Bayes", {"depth": 0, "nodes": 1, "leaves": 1}, ["nb"]),
    "bayes+adaptive": Member(
        "naive Bayes, adaptive", {"depth": 0, "nodes": 1, "leaves": 1, "adaptive": True}, ["nb"]
    ),
    "vfdt": Member("VFDT", {"policy": "vfdt"}),
    "efdt": Member("EFDT", {"policy": "efdt", "leaves": 128}),  # inner nodes need a slot, too
    "regularized": Member("HT-REG", {"regularization": 0.5}),
    "svfdt1": Member("SVFDT-I", {"policy": "svfdt1"}),
    "svfdt2": Member("SVFDT-II", {"policy": "svfdt2"}),
    "adaptive": Member("HAT", {"adaptive": True}),
    "adaptive+regularized": Member("HAT-REG", {"adaptive": True, "regularization": 0.5}),
    "boosted": Member("OLBoost", {"boost": True}),
}


@dataclass(frozen=True)
class MemberScore:
    """The figures of one member with one leaf rule on one stream."""

    accuracy: float  # percent
    nodes: int  # of the tree at the end
    model_bytes: int
    samples_per_second: float  # of the fastest run


Key = tuple[str, str, str]  # member, leaf rule, stream


def parameters(member: str, leaf: str) -> dict[str, Any]:
    """Return the member's parameters with a leaf rule, without those that depend on the stream."""
    return {**SHARED, **MEMBERS[member].parameters, "leaf": leaf}


def check_members(names: Sequence[str]) -> None:
    """Raise UserError for the first member that the learner cannot be;
    the message lists possible ones.
    """
    for name in names:
        complaint = _complaint(name)
        if complaint:
            known = ",".join(each for each in MEMBERS if not _complaint(each))
            raise UserError(f"member {name}: {complaint}. What it can be: --members {known}")


def _complaint(name: str) -> str:
    for leaf in MEMBERS[name].leaves:
        wanted = parameters(name, leaf)
        for each in wanted:
            if each not in defaults(MODEL):
                return f"the Hoeffding tree has no {option(each)}"
        try:
            check_parameters(MODEL, {"features": 1, "classes": 2, **wanted})
        except UserError as error:
            return str(error)
    return ""


def measure(
    streams: Mapping[str, Stream],
    members: Sequence[str],
    repeats: int,
    progress: Callable[[int, int, str], None],
) -> dict[Key, MemberScore]:
    """Run every member with each of its leaf rules on every stream; progress counts samples."""
    runs = [(m, leaf, s) for s in streams for m in members for leaf in MEMBERS[m].leaves]
    total = sum(len(streams[name].labels) for _, _, name in runs)
    done = 0
    result = {}
    for member, leaf, name in runs:
        progress(done, total, f"{name}, {member}, {leaf}")
        result[member, leaf, name] = run_member(streams[name], member, leaf, repeats)
        done += len(streams[name].labels)
    progress(done, total, "")
    return result


def run_member(stream: Stream, member: str, leaf: str, repeats: int) -> MemberScore:
    """Run one member with one leaf rule over the whole stream, `repeats` times,
    on the fastest engine.
    """
    wanted = stream_parameters(MODEL, stream, WARMUP) | parameters(member, leaf)
    results = [prequential.evaluate(stream, MODEL, wanted, warmup=WARMUP) for _ in range(repeats)]
    return MemberScore(
        results[0].accuracy,
        results[0].progress["nodes_used"],
        learner(MODEL).nbytes(**wanted),
        max(result.samples_per_second for result in results),
    )
