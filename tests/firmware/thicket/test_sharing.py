"""Boards that teach each other: a packet's content, refusals, learning and forgetting."""

from __future__ import annotations

import inspect
import struct
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packet_attack import attack
from packet_support import CLASSES, NAMES, UNITS, Board, rows_of, sealed

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())
ALL = (60, 60, 60)


def test_a_packet_holds_the_samples_of_the_store() -> None:
    board = Board(LIBRARY, ALL)
    packet = board.packet("run", "walk")
    assert (packet.origin, packet.feature_names, packet.units) == ("kitchen", NAMES, UNITS)
    assert packet.class_names == ("run", "walk")
    assert packet.samples == 40
    buffers = {name: buffer for name, _, buffer in board.model.buffers()}
    codes = bytes(buffers["ring.codes"])
    labels = bytes(buffers["ring.labels"])
    held = {(codes[3 * k : 3 * k + 3], labels[k]) for k in range(buffers["ring.shape"][3])}
    for i in range(40):
        row = bytes(packet.code(i, f) for f in range(3))
        assert (row, CLASSES.index(packet.class_names[packet.label(i)])) in held


def test_only_chosen_classes_leave_a_board() -> None:
    board = Board(LIBRARY, (60, 60, 0))
    data = board.sharing.collect("kitchen", ("walk",))
    assert b"rest" not in data
    with pytest.raises(ValueError, match=r"nothing is held .* run"):
        board.packet("run")
    with pytest.raises(ValueError, match=r"no class jump\..* rest, walk, run"):
        board.packet("jump")


def test_a_new_class_is_known_after_a_packet_of_20() -> None:
    board = Board(LIBRARY, (60, 60, 0), seed=1)
    assert board.right(2) == 0
    judged = board.sharing.take(Board(LIBRARY, ALL).packet(*CLASSES))
    assert [(name, what) for name, what, _ in judged] == [
        ("rest", "well known"), ("walk", "well known"), ("run", "learned"),
    ]  # fmt: skip
    assert board.right(2) == 0  # nothing is learned before its time
    assert board.learn_all() <= 20
    assert min(board.right(c) for c in range(3)) > 0.9


def test_a_packets_samples_stay_while_a_board_keeps_learning() -> None:
    board = Board(LIBRARY, (60, 60, 0), seed=1)
    board.sharing.take(Board(LIBRARY, ALL).packet("run"))
    board.learn_all()
    for row, other in zip(rows_of(0, 400, 5), rows_of(1, 400, 5), strict=True):
        board.learn(row, 0)
        board.learn(other, 1)
    assert board.held(2) > 10
    assert board.right(2) > 0.9


def test_samples_of_a_packet_take_turns() -> None:
    board = Board(LIBRARY, (60, 0, 0), seed=1)
    board.sharing.take(Board(LIBRARY, ALL).packet("walk", "run"))
    counts = []
    while board.sharing.step():
        counts.append(board.held(1) - board.held(2))
    assert set(counts) <= {0, 1}


@pytest.mark.parametrize("wrong", ["one flipped", "flipped", "mixed up", "noise", "stuck"])
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_nonsense_of_another_board_is_refused_and_nothing_changes(wrong: str, seed: int) -> None:
    teacher = Board(LIBRARY, (0, 0, 0))
    rows = np.concatenate([rows_of(0, 40, seed), rows_of(1, 40, seed)])
    dice = np.random.default_rng(seed)
    if wrong == "one flipped":
        rows = rows[:40]
    if wrong == "mixed up":
        dice.shuffle(rows)
    if wrong == "noise":
        rows = rows + dice.normal(0, 400, rows.shape).astype(int)
    if wrong == "stuck":
        rows[:] = rows[0]
    for row in rows:
        teacher.learn(row, 2)
    board = Board(LIBRARY, (60, 60, 0), seed=1)
    before = board.bits()
    judged = board.sharing.take(teacher.packet("run"))
    assert judged[0][1] == ("all the same" if wrong == "stuck" else "contradicted")
    assert board.sharing.waiting == 0
    assert board.bits() == before


@pytest.mark.parametrize("known", [(60, 60, 0), (60, 0, 0), (60, 60, 12)])
@pytest.mark.parametrize("factor", [3_000, 100_000])
def test_values_of_another_unit_do_not_coarsen_the_known_classes(
    factor: int, known: tuple[int, int, int]
) -> None:
    """Ranges that held these values would have no room for classes taught here, now or later."""
    teacher = Board(LIBRARY, (0, 0, 0))
    for row in factor * rows_of(2, 40, 3):
        teacher.learn(row, 2)
    board = Board(LIBRARY, known, seed=1)
    before = board.bits()
    [(_, what, which)] = board.sharing.take(teacher.packet("run"))
    assert (what, which) == ("too far away", [])
    assert board.bits() == before


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_board_that_only_rested_learns_others_movements(seed: int) -> None:
    """Ranges grow more than eightfold, and no known class becomes too coarse."""
    board = Board(LIBRARY, (0, 0, 0))
    for row in rows_of(0, 60, 1) // 20:
        board.learn(row, 0)
    sizes = [board.quantizer.range_of(f)[1] for f in range(3)]
    [(_, what, which)] = board.sharing.take(Board(LIBRARY, ALL, seed).packet("run"))
    assert (what, len(which)) == ("learned", 20)
    board.learn_all()
    assert max(board.quantizer.range_of(f)[1] - sizes[f] for f in range(3)) > 3
    assert board.right(2) == 1


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_class_that_overlaps_known_ones_is_learned(seed: int) -> None:
    teacher = Board(LIBRARY, (0, 0, 0))
    for row in rows_of(0, 40, seed) + np.array(
        [300, -300, 300]
    ):  # one standard deviation and a half
        teacher.learn(row, 2)
    board = Board(LIBRARY, (60, 60, 0), seed=1)
    [(_, what, which)] = board.sharing.take(teacher.packet("run"))
    assert what == "learned"
    assert len(which) >= 16


def test_samples_without_a_contradiction_are_learned() -> None:
    board = Board(LIBRARY, (0, 0, 0))
    [(_, what, which)] = board.sharing.take(Board(LIBRARY, ALL).packet("run", most=1))
    assert (what, len(which)) == ("learned", 1)


def test_single_samples_with_a_wrong_label_are_left_out() -> None:
    teacher = Board(LIBRARY, (0, 0, 0))
    for row in np.concatenate([rows_of(2, 17, 3), rows_of(0, 3, 3)]):
        teacher.learn(row, 2)
    board = Board(LIBRARY, (60, 60, 0), seed=1)
    [(_, what, which)] = board.sharing.take(teacher.packet("run"))
    assert what == "learned"
    assert set(range(20)) > set(which)
    assert 16 <= len(which) < 20


def test_an_origin_can_be_forgotten_again() -> None:
    board = Board(LIBRARY, (60, 60, 0), seed=1)
    packet = Board(LIBRARY, ALL).packet("run")
    board.sharing.take(packet)
    board.learn_all()
    assert board.held(2) == 20
    for row in rows_of(0, 30, 7):
        board.learn(row, 0)
    assert board.sharing.forget(packet) == 20
    assert board.held(2) == 0
    board.learn_all()
    assert board.right(2) == 0
    assert min(board.right(0), board.right(1)) > 0.9
    board.model.load(board.model.save())  # all counts are right, or it would be refused


def test_packets_are_forgotten_at_once_so_that_none_replaces_another() -> None:
    kitchen, attic = Board(LIBRARY, (60, 60, 60), 1), Board(LIBRARY, (60, 60, 0), 2)
    packets = [kitchen.packet(name) for name in CLASSES]
    attic.sharing.take(packets[2])
    attic.learn_all()
    assert attic.held(2) == 20
    assert attic.sharing.forget_all([(packet, None) for packet in packets]) == 20
    assert min(attic.held(0), attic.held(1)) >= 60, "what it was taught itself stays"
    assert attic.held(2) == 0
    assert attic.right(2) == 0
    assert min(attic.right(0), attic.right(1)) > 0.9


def test_a_board_passes_on_only_its_own_samples() -> None:
    attic = Board(LIBRARY, (60, 60, 0), seed=1)
    attic.sharing.take(Board(LIBRARY, ALL).packet("run"))
    attic.learn_all()
    with pytest.raises(ValueError, match=r"held .* run .* taught here"):
        attic.packet("run", origin="attic")
    rows = rows_of(2, 12, 8)
    for row in rows:
        attic.learn(row, 2)
    packet = attic.packet("run", origin="attic")
    assert (attic.held(2), packet.samples) == (32, 12)
    assert attic.sharing.forget_origin("kitchen") == 20
    assert attic.held(2) >= 12
    assert attic.packet("run", origin="attic").samples >= 12


def test_an_origin_is_forgotten_with_all_of_its_packets() -> None:
    """The origin's packet at the broker has changed since, and no file of the first is left."""
    attic = Board(LIBRARY, (60, 60, 0), seed=1)
    kitchen = Board(LIBRARY, ALL)
    attic.sharing.take(kitchen.packet("run", most=15))
    attic.learn_all()
    for row in rows_of(2, 300, 11):
        kitchen.learn(row, 2)
    for row in np.concatenate([rows_of(0, 40, 5), 3 * rows_of(1, 40, 5)]):  # ranges grow
        attic.learn(row, int(abs(row[0]) > 1500))
    assert attic.sharing.forget_origin("hall") == 0
    assert attic.sharing.forget_origin("kitchen") == 15
    attic.learn_all()
    assert attic.held(2) == 0
    assert attic.right(2) == 0
    attic.model.load(attic.model.save())


def test_marks_are_removed_with_their_samples_and_never_lost() -> None:
    """Thousands of samples come, mixed and in runs, some contradicted, some forgotten."""
    board = Board(LIBRARY, (60, 60, 0), seed=1)
    board.sharing.take(Board(LIBRARY, ALL).packet("run"))
    board.learn_all()
    dice = np.random.default_rng(4)
    taught = 0
    for k in range(3000):
        label = int(dice.integers(3)) if k < 1000 else k // 100 % 3
        taught += label == 2
        place = label if dice.random() > 0.1 else int(dice.integers(3))
        board.learn(rows_of(place, 1, k)[0], label)
        if k % 250 == 0:
            board.model.load(board.model.save())  # all counts are right
            store = board.sharing._store
            assert store.count(2) - board.sharing.count_own(2) <= 20
            assert board.sharing.count_own(2) <= taught
        if k == 2500:
            board.model.forget()
    assert board.sharing.forget_origin("kitchen") <= 20
    assert board.held(2) == board.sharing.count_own(2)


def test_a_state_without_marks_is_read_and_its_samples_are_found() -> None:
    attic = Board(LIBRARY, (60, 60, 0), seed=1)
    packet = Board(LIBRARY, ALL).packet("run")
    attic.sharing.take(packet)
    attic.learn_all()
    buffers = {name: buffer for name, _, buffer in attic.model.buffers()}
    against = buffers["store.against"]
    for k in range(len(against)):
        against[k] &= 7 if against[k] > 127 else 127
    buffers["store.state"][2] &= 65535
    attic.model.load(attic.model.save())
    assert attic.sharing.forget(packet) == 20
    assert attic.held(2) == 0


def test_waiting_samples_are_forgotten_too() -> None:
    board = Board(LIBRARY, (60, 60, 0), seed=1)
    packet = Board(LIBRARY, ALL).packet("run")
    board.sharing.take(packet)
    board.sharing.forget(packet)
    assert board.sharing.waiting == 0


def test_other_features_are_refused_in_a_sentence() -> None:
    board = Board(LIBRARY, ALL, feature_names=("x", "y", "temperature"))
    words = "the packet is of the features x, y, z, and here they are x, y, temperature"
    with pytest.raises(ValueError, match=words):
        board.sharing.take(Board(LIBRARY, ALL).packet("run"))


def test_a_class_that_is_not_in_the_packet_is_not_learned() -> None:
    board = Board(LIBRARY, (60, 60, 0), class_names=("rest", "walk", "sleep"))
    assert board.sharing.take(Board(LIBRARY, ALL).packet("run")) == [("run", "no such class", [])]


def test_equal_ranges_give_equal_codes_and_others_are_converted_with_their_error() -> None:
    teacher = Board(LIBRARY, ALL)
    packet = teacher.packet(*CLASSES)
    steps = [1 << max(teacher.quantizer.range_of(f)[1] - 7, 0) for f in range(3)]
    changes = teacher.sharing.value_changes(packet)
    assert all(change <= step for change, step in zip(changes, steps, strict=True))
    other = Board(LIBRARY, ALL, seed=4)
    wide = [1 << max(other.quantizer.range_of(f)[1] - 7, 0) for f in range(3)]
    for change, one, two in zip(other.sharing.value_changes(packet), steps, wide, strict=True):
        assert change <= one + two


def test_other_units_are_converted() -> None:
    teacher = Board(LIBRARY, ALL, units=((0, 3), (5, 2), (0, 2)))  # the same numbers, other values
    packet = teacher.packet("run")
    board = Board(LIBRARY, ALL)
    for i in range(packet.samples):
        board.sharing._read(packet, i)
        raw = [packet.raw(i, f) for f in range(3)]
        value = [raw[0] / 1000, raw[1] / 100 + 5, raw[2] / 100]
        assert [v / 100 for v in board.sharing._raw] == pytest.approx(value, abs=0.005)


@pytest.mark.parametrize("size", [0, 1, 5, 1000, 70000, 2**30 - 2])
@pytest.mark.parametrize("grows", [False, True])
def test_a_value_is_restored_within_the_width_of_its_code(size: int, grows: bool) -> None:
    packet = sys.modules[LIBRARY.__name__ + ".sample_packet"]
    quantizer = (
        LIBRARY.GrowingQuantizer(1)
        if grows
        else LIBRARY.Quantizer(1, [(-7, min(size, 2**29) - 7)])
    )
    code, raw = array("H", [0]), array("i", [0])
    if grows:
        for value in [-7, min(size, 2**28) - 7] * 9:
            raw[0] = value
            quantizer.encode(raw, code)
    low, length = quantizer.range_of(0)
    last = low + ((1 << length) - 1 if grows else length)
    for value in np.linspace(low, min(last, 2**29 - 1), 50).astype(int):
        raw[0] = int(value)
        quantizer.code_aside(raw, code)
        back = packet.value_of(code[0] >> 8, low, length, grows)
        assert abs(back - int(value)) <= (last - low) // 128 + 1
        raw[0] = back
        upper = code[0] >> 8
        quantizer.code_aside(raw, code)
        assert code[0] >> 8 == upper


def test_a_damaged_packet_is_refused() -> None:
    data = Board(LIBRARY, ALL).sharing.collect("kitchen", ("run",))
    for at in range(len(data)):
        with pytest.raises(ValueError, match="packet"):
            LIBRARY.SamplePacket(data[:at])
        changed = bytearray(data)
        changed[at] ^= 64
        with pytest.raises(ValueError, match="packet"):
            LIBRARY.SamplePacket(changed)
    with pytest.raises(ValueError, match=r"version 2, .* version 1"):
        LIBRARY.SamplePacket(sealed(data[:4] + b"\2" + data[5:]))


def test_forged_lengths_are_refused() -> None:
    data = Board(LIBRARY, ALL).sharing.collect("kitchen", ("run",))
    samples = len(data) - 4 - 20 * 5 - 2
    for count in (0, 1, 19, 21, 65535):
        forged = data[:samples] + struct.pack("<H", count) + data[samples + 2 :]
        with pytest.raises(ValueError, match="damaged"):
            LIBRARY.SamplePacket(sealed(forged))


def test_altered_packets_with_a_valid_checksum_do_no_harm() -> None:
    refused, read = attack(3000, seed=2)
    assert refused + read == 3000
    assert min(refused, read) > 100


def life(library: Any, data: bytes) -> list[int]:
    """Return the results of a board that gets a packet, as numbers; also run on MicroPython."""
    model = library.Thicket(3, 3, bytes=8192)
    quantizer = library.GrowingQuantizer(3, (model,))
    sharing = library.Sharing(
        model, quantizer, ("x", "y", "z"), ((0, 2),) * 3, ("rest", "walk", "run")
    )
    from array import array

    raw, x = array("i", [0, 0, 0]), array("H", [0, 0, 0])
    dice = 1
    packet = library.SamplePacket(data)
    state = []
    for k in range(200):
        for f in range(3):
            dice = (dice * 25173 + 13849) & 65535
            raw[f] = (k & 1) * (3000, 500, -2000)[f] + (dice >> 6) - 512
        quantizer.encode(raw, x)
        model.learn(x, k & 1)
        if k == 120:
            judged = sharing.take(packet)
            state += [len(which) for _, _, which in judged]
        sharing.step()
    state.append(model.state_crc32() & 0xFFFFFFFF)
    again = sharing.collect("attic", ("rest", "walk"))
    state += [len(again), library.buffers.crc32(again) & 0xFFFFFFFF]
    state.append(sharing.forget(packet))
    state.append(model.state_crc32() & 0xFFFFFFFF)
    return state + [quantizer.state_crc32() & 0xFFFFFFFF]  # noqa: RUF005  (MicroPython)


def test_all_engines_reach_the_same_bits(
    run_micropython: Callable[[str], str], tmp_path: Path
) -> None:
    data = Board(LIBRARY, ALL).sharing.collect("kitchen", ("walk", "run"))
    wanted = life(LIBRARY, data)
    assert wanted[1] > 15
    assert life(loader.load("checked"), data) == wanted
    text = inspect.getsource(life).replace(": Any", "").replace(": bytes", "")
    text = text.replace(" -> list[int]", "")
    script = "import microshrub, microshrub.buffers\n" + text
    script += f"print(life(microshrub, {data!r}))\n"
    assert run_micropython(script).strip() == str(wanted)
