"""`microshrub check-learner`: does a user's own learner keep the rules of all learners?"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.files import resolved
from microshrub_host.base.terminal import console
from microshrub_host.library import learners, library_files, loader, user_learner_check
from microshrub_host.library.user_learner_check import LearnerError

from ..learner_check.learner_rules import CHECKS, NEEDED, CheckedLearner, LeftOut


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("learner", metavar="FILE:CLASS", help="a file and the class in it")


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each check; return 1 if one fails."""
    file, _, name = arguments.learner.rpartition(":")
    if not file:
        raise UserError(f"{name!r} has to be FILE.py:CLASS")
    if not Path(file).expanduser().is_file():
        raise UserError(f"there is no file {file}")
    first = learners.short_name(name or " ")
    matches = [each for each in library_files.user_learners() if each.name == name]
    if not matches and (first in learners.MODELS or first in learners.REGRESSORS):
        raise UserError(f"{name} cannot be called {first}: that is {learners.learner_name(first)}")
    library_files.add(name, file)
    loader.load.cache_clear()
    candidate = CheckedLearner(name, resolved(Path(file).expanduser()))
    failed = 0
    for check in CHECKS:
        words = _failure(check, candidate)
        failed += bool(words)
        if words and check in NEEDED:
            console.say("The other checks need this one to hold.")
            break
    if not failed:
        console.say(f"{name} keeps what a learner has to.")
    return int(failed > 0)


def _failure(check: Callable[[CheckedLearner], None], candidate: CheckedLearner) -> str:
    """Run a check and print its line; return the error message, "" without an error."""
    what = (check.__doc__ or "").strip()
    try:
        check(candidate)
    except LeftOut as left:
        console.say(f"left out  {what} {left}")
        return ""
    except LearnerError as error:
        words = str(error)
    except Exception as error:
        words = str(user_learner_check.learner_error(error, candidate.path))
    else:
        console.say(f"holds     {what}")
        return ""
    console.say(f"FAILS     {what}\n          {words}")
    return words
