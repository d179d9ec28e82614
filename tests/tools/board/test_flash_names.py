"""`microshrub flash` with other files in the root of the board's flash, and other main.py's."""

from __future__ import annotations

from pathlib import Path

from board_support import what_starts
from flash_support import Direct, put, tiny

from microshrub_tools.board.board_code import LOADER

NAMES = (
    *("microshrub.log", "microshrub.9", "microshrub.99999", "microshrub.12a4", "microshrub.7777"),
    *("microshrub.8888/mine.txt", "microshrub.backup/main.py"),
)


def names_in_the_root(folder: Path) -> dict[str, bytes]:
    """Create files whose names look like a program's; return the files."""
    files = {name: f"somebody's {name}".encode() for name in NAMES}
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    return files


def test_other_names_in_the_root_are_left_alone(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    folder = tmp_path / "flash"
    board = Direct(micropython_command, folder, -1)
    put(board, tiny("one"))
    (folder / "microshrub.0001" / "checkpoint.0").write_bytes(b"learned")
    others = names_in_the_root(folder)
    assert what_starts(micropython_command, folder).split()[0] == "one"
    put(board, tiny("two"))
    assert what_starts(micropython_command, folder).split()[0] == "two"
    assert (folder / "microshrub.0002" / "checkpoint.0").read_bytes() == b"learned"
    assert not (folder / "microshrub.0001").exists()
    board.close()
    assert {name: (folder / name).read_bytes() for name in others} == others


def test_numbers_of_programs_start_again(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    folder = tmp_path / "flash"
    board = Direct(micropython_command, folder, -1)
    put(board, tiny("one"))
    (folder / "microshrub.0001").rename(folder / "microshrub.9998")
    (folder / "microshrub.0002").write_bytes(b"somebody's")
    for k, number in enumerate(("9999", "0001", "0003")):
        put(board, tiny(f"program{k}"))
        assert what_starts(micropython_command, folder).split()[0] == f"program{k}"
        assert [p.name[-4:] for p in folder.glob("microshrub.*") if p.is_dir()] == [number]
    board.close()


def test_without_a_program_main_py_reports_it(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    (tmp_path / "flash").mkdir()
    (tmp_path / "flash" / "main.py").write_text(LOADER)
    names_in_the_root(tmp_path / "flash")
    output = what_starts(micropython_command, tmp_path / "flash")
    assert output.split("\n")[0] == "microshrub: there is no program here: flash the board"
    assert "Traceback" not in output


def test_a_users_main_py_is_kept_over_several_flashes(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    folder = tmp_path / "flash"
    board = Direct(micropython_command, folder, -1)
    (folder / "main.py").write_text("print('old')\n")
    put(board, tiny("one"))
    (folder / "main.py").write_text(LOADER.replace("found", "names"))  # an older microshrub's
    put(board, tiny("two"))
    board.close()
    assert (folder / "main.py").read_text() == LOADER
    assert (folder / "main.old").read_text() == "print('old')\n"
