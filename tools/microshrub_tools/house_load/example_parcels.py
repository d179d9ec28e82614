"""Parcels of a group of boards: what a thicket gives away that has learned an example."""

from __future__ import annotations

from pathlib import Path

from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files, shared_samples
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.worlds.table import world

EXAMPLE = "room"
BYTES = 16384


def example_parcels(folder: Path) -> dict[str, bytes]:
    """A parcel of each class of the example, as `microshrub share export` writes it."""
    data, saved = folder / f"{EXAMPLE}.csv", folder / f"{EXAMPLE}.mshrub"
    data.write_text(world(EXAMPLE).csv())
    stream = open_stream(str(data))
    shape = {"features": len(stream.feature_names), "classes": len(stream.class_names)}
    result = prequential.evaluate(stream, "thicket", {**shape, "bytes": BYTES})
    model_files.write(saved, model_files.of_run(result, stream))
    sharer, most = shared_samples.sharer(saved), shared_samples.MOST
    return {name: sharer.collect(EXAMPLE, [name], most) for name in stream.class_names}
