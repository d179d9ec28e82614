"""`microshrub share forget`: a saved model, or a board, without what a parcel has taught it."""

from __future__ import annotations

import argparse

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console
from microshrub_host.base.text import count
from microshrub_host.models import model_files, shared_samples

from ..board.board_sharing import board_model
from .share_files import add_board, add_output, add_taught, taught_files, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Take the samples of a parcel out of a thicket again. Its trees that have grown on them "
        "count little as soon as newer ones have grown. A board does not keep which samples it "
        "took: all of the parcel's are looked for there."
    )
    add_taught(parser, "the PARCEL of `share export`")
    add_board(parser, "have the samples forgotten by")
    add_output(parser, "the model to write; an existing model is replaced (required with MODEL)")


def run(arguments: argparse.Namespace) -> int:
    """Forget, and write the model."""
    path, paths = taught_files(arguments)
    if len(paths) != 1:
        raise UserError("give one PARCEL: each is forgotten by a command of its own")
    parcel = shared_samples.read_parcel(paths[0])
    if path is not None:
        model, gone = shared_samples.without(path, parcel)
        write(arguments, model_files.packed(model), f", without {count(gone, 'sample')}")
        return 0
    with board_model(arguments.port, arguments.key) as board:
        board.check_keeps()
        try:
            gone = board.sharing.forget(parcel)
        except ValueError as error:
            raise UserError(f"the board: {error}") from None
        if gone:
            board.put_back()
    console.say(f"The board goes on without {count(gone, 'sample')} of {parcel.origin}.")
    return 0
