"""Packets of samples that a saved model sends, learns or forgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..library import loader
from .model_files import ModelFile, OpenModel, open_model

MOST = 20  # samples of a class
OF_OTHERS = "learned of others"  # from an earlier packet; sharing.py has the other outcomes


@dataclass(frozen=True)
class Taken:
    """The outcome for a class of a packet: a word for it, and the number of samples learned."""

    name: str
    what: str
    samples: int
    learned: int


@dataclass(frozen=True)
class PacketOutcome:
    """The outcome of a packet with that key.

    changes has the largest change of each feature's values.
    """

    origin: str
    key: str
    classes: tuple[Taken, ...]
    changes: dict[str, float]
    numbers: tuple[int, ...]  # indices in the packet of the samples learned


@dataclass(frozen=True)
class Sharer:
    """A Sharing with its owner, and with the names and units of its features and classes."""

    whose: str
    sharing: Any
    names: Sequence[str]
    units: Sequence[tuple[int, int]]
    classes: Sequence[str]

    def held(self) -> tuple[str, ...]:
        """Return the classes with samples that the owner was taught directly."""
        return tuple(name for name in self.classes if self._holds(name))

    def _holds(self, name: str) -> bool:
        try:
            self.sharing.collect("-", (name,), 1)
        except ValueError:
            return False
        return True

    def collect(self, origin: str, wanted: Sequence[str], most: int) -> bytes:
        """Return a packet of up to `most` samples of each of these classes.

        Raises UserError for an unknown class, or a class without samples taught directly.
        """
        try:
            data: bytes = self.sharing.collect(origin, tuple(wanted), most)
        except ValueError as error:
            raise UserError(f"{self.whose}: {error}") from None
        return data

    def forget(self, packets: Sequence[Any], origin: str | None = None) -> int:
        """Forget samples like those in packets, and all samples of an origin; return their number.

        Raises UserError.
        """
        try:
            gone: int = self.sharing.forget_origin(origin) if origin else 0
            gone += self.sharing.forget_all([(packet, None) for packet in packets])
            return gone
        except ValueError as error:
            raise UserError(f"{self.whose}: {error}") from None

    def take(self, packet: Any) -> PacketOutcome:
        """Take a packet. Raises UserError if its features differ."""
        try:
            result = self.sharing.take(packet)
        except ValueError as error:
            raise UserError(f"{self.whose}: {error}") from None
        counts = _counts(packet)
        classes = [
            Taken(name, what, counts[k], len(which))
            for k, (name, what, which) in enumerate(result)
        ]
        moved = zip(self.names, self.sharing.value_changes(packet), self.units, strict=True)
        changes = {name: change / 10.0 ** unit[1] for name, change, unit in moved}
        numbers = tuple(i for _, _, which in result for i in which)
        return PacketOutcome(packet.origin, packet.key, tuple(classes), changes, numbers)

    def take_lacking(self, packets: Mapping[str, Any]) -> tuple[list[PacketOutcome], list[str]]:
        """Take packets with one class each, given by source, until one of each class is learned.

        Returns the outcomes, and the error messages for packets with other features.
        """
        outcomes, refused = [], []
        learned: set[str] = set()
        for where, packet in packets.items():
            name = packet.class_names[0]
            if name in learned:
                taken = (Taken(name, OF_OTHERS, packet.samples, 0),)
                outcomes.append(PacketOutcome(packet.origin, packet.key, taken, {}, ()))
                continue
            try:
                outcomes.append(replace(self, whose=where).take(packet))
            except UserError as error:
                refused.append(str(error))
                continue
            if outcomes[-1].numbers:
                learned.add(name)
        return outcomes, refused


def _counts(packet: Any) -> list[int]:
    """Return the number of samples of each class in a packet."""
    counts = [0] * len(packet.class_names)
    for i in range(packet.samples):
        counts[packet.label(i)] += 1
    return counts


def read_packet(path: Path) -> Any:
    """Return the SamplePacket in a file. Raises UserError if there is none."""
    try:
        return loader.load("python").SamplePacket(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None


def sharer(path: Path) -> Sharer:
    """Return the Sharing of a saved model. Raises UserError."""
    return _sharer(open_model(path), path)


def taught(
    path: Path, take: Callable[[Sharer], list[PacketOutcome]]
) -> tuple[ModelFile, list[PacketOutcome]]:
    """Return the model after take() has taught it packets, and the outcomes. Raises UserError."""
    model = open_model(path)
    receiver = _sharer(model, path)
    outcomes = take(receiver)
    while receiver.sharing.step():
        pass
    shared = dict(model.file.shared)
    for outcome in outcomes:
        if outcome.numbers:
            shared[outcome.key] = sorted({*shared.get(outcome.key, []), *outcome.numbers})
    return _settled(model, shared), outcomes


def without(
    path: Path, packets: Sequence[Any], origin: str | None = None
) -> tuple[ModelFile, int]:
    """Return the model without the samples of packets, or of an origin, and their number.

    Raises UserError if the model has learned none of these samples, or no others.
    """
    model = open_model(path)
    shared = dict(model.file.shared)
    known = [packet for packet in packets if packet.key in shared]
    if not known and origin is None:
        origins = " or ".join(sorted({packet.origin for packet in packets}))
        these = "this packet" if len(packets) == 1 else "these packets"
        raise UserError(f"{path}: it has learned nothing of {these} of {origins}")
    sharing = _sharer(model, path).sharing
    try:
        gone = sharing.forget_origin(origin) if origin else 0
        gone += sharing.forget_all([(packet, shared.pop(packet.key)) for packet in known])
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    if not gone and not known:
        raise UserError(f"{path}: it has learned nothing of {origin}")
    return _settled(model, shared), gone


def _sharer(model: OpenModel, path: Path) -> Sharer:
    file = model.file
    if file.companions:
        raise UserError(f"{path}: a model with {_in_words(file.companions)} shares no samples")
    library = loader.load("python")
    shape = file.feature_names, file.scale.units(), file.class_names
    try:
        sharing = library.Sharing(model.learner, model.quantizer, *shape)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    return Sharer(str(path), sharing, *shape)


def _in_words(companions: Mapping[str, Any]) -> str:
    """Return a model's companions as options of `simulate`."""
    options = {
        "spare_classes": "--spare-classes",
        "anomaly": "--anomaly",
        "guarantee": "--guarantee",
    }
    return " and ".join(options.get(name, name) for name in companions)


def _settled(model: OpenModel, shared: dict[str, list[int]]) -> ModelFile:
    """Return the file of a changed model, after it has finished its pending work."""
    while model.learner.idle():
        pass
    states = replace(
        model.file.states, learner=model.learner.save(), quantizer=model.quantizer.save()
    )
    return replace(model.file, states=states, shared=shared)
