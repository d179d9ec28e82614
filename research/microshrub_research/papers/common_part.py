"""The part of each stream that all methods learned, so that the methods can be ranked.

For methods that learned more of a stream than others, accuracies and sizes come from their curves,
which have about 200 points.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from .experiment import ExperimentResults, RunOutcome

Curve = Sequence[tuple[int, float]]


def common_part(experiment: ExperimentResults) -> ExperimentResults:
    """Return the results over the samples that every method learned; unchanged if all are equal.

    A method without a run on a stream does not shorten the stream.
    """
    lengths = {stream: _length(experiment, stream) for stream in experiment.streams}
    longer = any(
        result.accuracy is not None and result.samples > lengths[result.stream]
        for result in experiment.results
    )
    if not longer:
        return experiment
    shortened = [shorten(result, lengths[result.stream]) for result in experiment.results]
    return replace(experiment, results=shortened)


def _length(experiment: ExperimentResults, stream: str) -> int:
    """Return the number of samples that all methods learned."""
    runs = [experiment.of(stream, method.name) for method in experiment.methods]
    return min((max(result.samples for result in of) for of in runs if of), default=0)


def shorten(result: RunOutcome, samples: int) -> RunOutcome:
    """Return the result after this many samples, or at the last point before."""
    if result.accuracy is None or result.samples <= samples:
        return result
    accuracies = _until(result.accuracies, samples)
    sizes = _until(result.sizes, samples)
    later = [size for seen, size in sizes if seen]
    average = result.average_bytes
    if average is not None and later:
        # The size before the first sample is subtracted already: see average_size()
        whole = statistics.fmean(size for seen, size in result.sizes if seen)
        average = max(0.0, average + statistics.fmean(later) - whole)
    return replace(
        result,
        samples=accuracies[-1][0],
        accuracy=accuracies[-1][1],
        running_average_accuracy=statistics.fmean(value for _, value in accuracies),
        average_bytes=average,
        accuracies=accuracies,
        sizes=sizes,
    )


def _until(curve: Curve, samples: int) -> Curve:
    """Return the points up to this number of samples, but at least the first."""
    return [point for point in curve if point[0] <= samples] or list(curve[:1])
