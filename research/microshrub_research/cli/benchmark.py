"""`microshrub benchmark`: the measurements behind the tables in the documentation."""

from __future__ import annotations

import argparse

from microshrub_host.cli.plain_parser import Command, add_commands

COMMANDS = (
    Command(
        "family",
        "Run every Hoeffding tree with every leaf rule on six streams.",
        "microshrub_research.cli.benchmark_family",
    ),
    Command(
        "small-memory",
        "Run the best known models that fit a small memory.",
        "microshrub_research.cli.benchmark_small_memory",
    ),
    Command(
        "field",
        "Run Thicket of several sizes beside other learners on many streams.",
        "microshrub_research.cli.benchmark_field",
    ),
    Command(
        "worth",
        "Leave each member of a thicket out; print what it adds to the accuracy.",
        "microshrub_research.cli.benchmark_worth",
    ),
    Command(
        "anomaly",
        "Run the anomaly score beside River's half-space trees.",
        "microshrub_research.cli.benchmark_anomaly",
    ),
    Command(
        "rare",
        "Run a balanced thicket beside River's wrappers for rare classes.",
        "microshrub_research.cli.benchmark_rare",
    ),
    Command(
        "new-classes",
        "Take each class's name away in turn; print when the class is noticed.",
        "microshrub_research.cli.benchmark_new_classes",
    ),
    Command(
        "features",
        "Learn windows of four sensors, beside a forest on hand-made features.",
        "microshrub_research.cli.benchmark_features",
    ),
    Command(
        "labels",
        "Learn few labels: those that the model asks for, and random ones.",
        "microshrub_research.cli.benchmark_labels",
    ),
    Command(
        "teach",
        "Teach some samples in any order, then ask without labels, beside other learners.",
        "microshrub_research.cli.benchmark_teach",
    ),
    Command(
        "recurring",
        "Let two concepts take turns; print the accuracy when each comes back.",
        "microshrub_research.cli.benchmark_recurring",
    ),
    Command(
        "numbers",
        "Run our regressors beside River's.",
        "microshrub_research.cli.benchmark_numbers",
    ),
    Command(
        "ahead",
        "Forecast 1 to 120 samples ahead, beside River; print what intervals hold.",
        "microshrub_research.cli.benchmark_ahead",
    ),
    Command(
        "growth",
        "Run a stream over and over; print the cost per sample at several points.",
        "microshrub_research.cli.benchmark_growth",
    ),
    Command(
        "process",
        "Start simulate on small and large files; print its CPU time and memory.",
        "microshrub_research.cli.benchmark_process",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    add_commands(parser, COMMANDS)
