"""The page refuses the same pins as `build`, with the same messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from node_support import run_in_node
from pin_cases import PIN_CASES, PinCase

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_tools.board.program_pins import check_pins
from microshrub_tools.web.page_boards import pin_data

PROGRAM = """
import { readFileSync } from "node:fs";
import { checkPins } from "./bundle.mjs";
const cases = JSON.parse(readFileSync(0, "utf8"));
const errors = cases.map(({ config, board }) => {
  try {
    checkPins(config, board);
    return "";
  } catch (error) {
    return error.message;
  }
});
process.stdout.write(JSON.stringify(errors));
"""


def error_of_build(case: PinCase) -> str:
    try:
        check_pins(case.config, board_files.load(case.board))
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("case", PIN_CASES)
def test_build_gives_the_message(case: PinCase) -> None:
    assert error_of_build(case) == case.words


def test_the_page_gives_the_same_message(tmp_path: Path) -> None:
    cases = []
    for case in PIN_CASES:
        board = board_files.load(case.board)
        data = {"name": board.name, "pins": pin_data(board)}
        cases.append({"config": case.config, "board": data})
    output = run_in_node(tmp_path, PROGRAM, {"board/pins": "checkPins"}, cases)
    assert output == [case.words for case in PIN_CASES]
