"""The experiments by their names."""

from __future__ import annotations

import importlib

from .experiment import Experiment

# The modules with an EXPERIMENT each; a module is imported when needed.
EXPERIMENTS = {
    "shrub-ensembles": "shrub_experiment",
    "regularized": "regularized_experiment",
    "efdt": "efdt_experiment",
    "olboost": "olboost_experiment",
}


def load_experiment(name: str) -> Experiment:
    """Return the experiment of that name."""
    module = importlib.import_module(f".{EXPERIMENTS[name]}", __package__)
    experiment: Experiment = module.EXPERIMENT
    return experiment
