"""`microshrub benchmark`: the measurements behind the tables in the documentation."""

from __future__ import annotations

import argparse

from microshrub_host.cli.plain_parser import Command, add_commands

_LEARNERS = "microshrub_research.cli.benchmark_learners"
_TASKS = "microshrub_research.cli.benchmark_tasks"
_CLI = "microshrub_research.cli"

COMMANDS = (
    Command(
        "family",
        "Run every Hoeffding tree with every leaf rule on six streams.",
        f"{_LEARNERS}:FAMILY",
    ),
    Command(
        "small-memory",
        "Run the best known models that fit a small memory.",
        f"{_LEARNERS}:SMALL_MEMORY",
    ),
    Command(
        "field",
        "Run Thicket of several sizes beside other learners on many streams.",
        f"{_LEARNERS}:FIELD",
    ),
    Command(
        "worth",
        "Leave each member of a thicket out; print what it adds to the accuracy.",
        f"{_LEARNERS}:WORTH",
    ),
    Command(
        "anomaly",
        "Run the anomaly score beside River's half-space trees.",
        f"{_TASKS}:ANOMALY",
    ),
    Command(
        "rare",
        "Run a balanced thicket beside River's wrappers for rare classes.",
        f"{_TASKS}:RARE",
    ),
    Command(
        "new-classes",
        "Take each class's name away in turn; print when the class is noticed.",
        f"{_TASKS}:NEW_CLASSES",
    ),
    Command(
        "features",
        "Learn windows of five sensors, beside a forest on hand-made features.",
        f"{_TASKS}:FEATURES",
    ),
    Command(
        "labels",
        "Learn few labels: those that the model asks for, and random ones.",
        f"{_TASKS}:LABELS",
    ),
    Command(
        "teach",
        "Teach some samples in any order, then ask about unseen data, beside other learners.",
        f"{_LEARNERS}:TEACH",
    ),
    Command(
        "recurring",
        "Let two concepts take turns; print the accuracy when each comes back.",
        f"{_LEARNERS}:RECURRING",
    ),
    Command(
        "numbers",
        "Run our regressors beside River's.",
        f"{_TASKS}:NUMBERS",
    ),
    Command(
        "ahead",
        "Forecast 1 to 120 samples ahead, beside River; print what intervals hold.",
        f"{_TASKS}:AHEAD",
    ),
    Command(
        "growth",
        "Run a stream over and over; print the cost per sample at several points.",
        f"{_CLI}.benchmark_growth",
    ),
    Command(
        "mqtt-load",
        "Let a thousand simulated boards talk to a real MQTT broker.",
        f"{_CLI}.benchmark_mqtt_load",
    ),
    Command(
        "process",
        "Start simulate on small and large files; print its CPU time and memory.",
        f"{_TASKS}:PROCESS",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    add_commands(parser, COMMANDS)
