"""The device library learns in a real Chromium, with the same bits as the simulator."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser_support import Browser
from playground_support import (
    ERROR,
    RUN,
    choose,
    choose_quick,
    crc_of_run,
    csv_of,
    give_csv,
    set_option,
    start,
)

from microshrub_host import open_stream, simulate
from microshrub_tools.web import site

STREAMS = ("synth:sea_0_to_2_at_200", "synth:led", "synth:agrawal_8_to_2_at_200")
LEARNERS = {
    "thicket": {"bytes": 8192},
    "shrub": {"window": 16, "trees": 4, "depth": 3},
    "hoeffding": {"grace_period": 50, "policy": "efdt", "adaptive": True},
}


@pytest.mark.parametrize("source", STREAMS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_pages_state_matches_the_simulators(
    playground: Browser, tmp_path: Path, learner: str, source: str
) -> None:
    path = tmp_path / "stream.csv"
    give_csv(playground, path, csv_of(source, 400))
    choose(playground, "learner", learner)
    for name, value in LEARNERS[learner].items():
        set_option(playground, name, str(value).lower() if value is True else value)
    expected = simulate(open_stream(str(path)), learner, **LEARNERS[learner])
    assert crc_of_run(playground) == expected.state_crc32
    shown = playground.run("document.querySelector('#state pre').textContent")
    assert shown.startswith("microshrub simulate stream.csv --model " + learner)


def test_an_arff_file_gives_the_simulators_state(playground: Browser, tmp_path: Path) -> None:
    path = tmp_path / "rooms.arff"
    head = ["% rooms", "@relation rooms", "@attribute 'room temp' numeric"]
    head += ["@attribute light {dim, 'very bright', dark}", "@attribute who {Zürich,Bern,Basel}"]
    light = ("dark", "?", "'very bright'", "dim")
    warmth = ["?" if i % 9 == 4 else str(i * 7 % 40 / 2) for i in range(400)]
    rows = [f"{warmth[i]},{light[i * 3 % 4]},{('Bern', 'Basel')[i % 7 > 3]}" for i in range(400)]
    give_csv(playground, path, "\n".join([*head, "@data", *rows]) + "\n")
    assert playground.run("document.querySelector('#label').value") == "who"
    choose(playground, "learner", "hoeffding")
    expected = simulate(open_stream(str(path)), "hoeffding")
    assert crc_of_run(playground) == expected.state_crc32


def test_a_stream_of_the_page_ends_in_the_expected_state(playground: Browser) -> None:
    choose(playground, "stream", "led")
    choose(playground, "learner", "hoeffding")
    crc = crc_of_run(playground)
    assert f"{crc:08x}" == playground.run("document.querySelector('#simulator-crc32').textContent")
    assert playground.run("!!document.querySelector('#state .good')")
    path = site.FOLDER / "streams" / "led.csv.gz"
    assert crc == simulate(open_stream(str(path)), "hoeffding").state_crc32


def test_the_accuracy_is_drawn_once(playground: Browser) -> None:
    """The chart's code is loaded on demand, and may arrive after a run's end."""
    for _ in range(2):
        choose(playground, "stream", "led")
        crc_of_run(playground)
    playground.wait("!!document.querySelector('.chart canvas')")
    assert playground.run("document.querySelectorAll('.chart canvas').length") == 1


LOADED = """
[...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")]
  .reduce((sum, each) => sum + each.decodedBodySize, 0)
"""


def test_the_page_loads_at_most_325_kb(page: Browser, address: str) -> None:
    page.open(address)
    page.wait("!!document.querySelector('#start')")
    assert 200 << 10 < page.run(LOADED) <= 325 << 10


def test_the_page_requests_only_its_own_host_without_complaints(
    page: Browser, address: str
) -> None:
    page.open(address)
    page.wait("!!document.querySelector('#start')")
    choose_quick(page)
    crc_of_run(page)
    urls = [url for url in page.requests if not url.startswith("data:")]  # data: sends nothing
    assert {url.split("/")[2] for url in urls} == {address.split("/")[2]}
    assert not page.complaints


EVIL = "<img src=x onerror=window.hit=1>"


ROWS = [f"{i % 7},{(i * 5) % 11},{EVIL if i % 7 > 3 else '</script><b>'}" for i in range(300)]
EVIL_CSV = [f'{EVIL},"\'><svg onload=window.hit=1>",<script>window.hit=1</script>', *ROWS]
EVIL_ARFF = [
    f"@relation {EVIL}",
    f"@attribute '{EVIL}' numeric",
    "@attribute <svg/onload=window.hit=1> numeric",
    f"@attribute <script>window.hit=1</script> {{{EVIL}, </script><b>}}",
    "@data",
    *ROWS,
]


@pytest.mark.parametrize(("suffix", "lines"), [("csv", EVIL_CSV), ("arff", EVIL_ARFF)])
def test_names_of_files_features_and_classes_are_escaped(
    playground: Browser, tmp_path: Path, suffix: str, lines: list[str]
) -> None:
    give_csv(playground, tmp_path / f"{EVIL}.{suffix}", "\n".join(lines))
    choose(playground, "learner", "hoeffding")
    crc_of_run(playground)
    assert playground.run("window.hit") is None
    assert (
        playground.run("document.querySelectorAll('main img, main svg, main script').length") == 0
    )
    assert EVIL in playground.run("document.querySelector('#newest').textContent") or (
        EVIL in playground.run("document.querySelector('#confusion').textContent")
    )
    shown = playground.run("document.querySelector('#state pre').textContent")
    assert f"'{EVIL}.{suffix}'" in shown


def test_an_invalid_arff_header_is_shown_as_text(playground: Browser, tmp_path: Path) -> None:
    text = f"@relation r\n@attribute '{EVIL}' {EVIL}\n@attribute y {{a,b}}\n@data\n1,a\n"
    give_csv(playground, tmp_path / "wrong.arff", text)
    assert EVIL in playground.wait(ERROR)
    assert playground.run("window.hit") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "no samples"),
        ("a,b\n1,x\n1,2,3\n", "line 3: 2 cells expected"),
        ("a,b\n1,x\nthree,y\n", "line 3, column a"),
        ("a,b\n1,x\n2,\n", "the class is missing"),
        ('a,b\n1,"x\n', 'stray "'),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_place(
    playground: Browser, tmp_path: Path, text: str, message: str
) -> None:
    give_csv(playground, tmp_path / "wrong.csv", text)
    start(playground)
    assert message in playground.wait(ERROR)


def test_a_learner_names_the_refused_option(playground: Browser) -> None:
    choose(playground, "stream", "led")
    choose(playground, "learner", "shrub")
    set_option(playground, "max_features", 25)
    start(playground)
    error = playground.wait(ERROR)
    assert "max_features" in error
    assert "0..24" in error


def test_a_run_can_be_stopped_and_another_one_started(playground: Browser) -> None:
    start(playground)
    playground.wait("document.querySelector('#newest').textContent")
    start(playground)
    choose_quick(playground)
    crc_of_run(playground)


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_the_width_of_a_phone(page: Browser, address: str, dark: bool) -> None:
    page.open(address, width=360, dark=dark)
    page.wait("!!document.querySelector('#start')")
    choose_quick(page)
    crc_of_run(page)
    assert page.run("document.documentElement.scrollWidth") <= 360


def test_a_loaded_page_works_without_the_server(page: Browser, address: str) -> None:
    page.open(address)
    page.run("navigator.serviceWorker.ready.then(() => true)")
    page.cut_off(True)
    try:
        page.open(address)
        page.wait("!!document.querySelector('#start')")
        choose_quick(page)
        crc_of_run(page)
    finally:
        page.cut_off(False)


STATUS = "document.querySelector('#status')"
STATUS_TEXT = f"{STATUS}.textContent"
HIDDEN = "document.querySelector('#playground .results').hidden"


def long_csv(rows: int, columns: int = 8) -> str:
    names = ",".join(f"f{i}" for i in range(columns))
    lines = (
        ",".join(str((row * (7 + i)) % 1009) for i in range(columns))
        + f",{'ab'[row * row % 3 % 2]}"
        for row in range(rows)
    )
    return f"{names},y\n" + "\n".join(lines) + "\n"


def test_another_file_clears_the_last_ones_messages(playground: Browser, tmp_path: Path) -> None:
    give_csv(playground, tmp_path / "wrong.csv", "a,b\n1,x\nthree,y\n")
    start(playground)
    playground.wait(ERROR)
    give_csv(playground, tmp_path / "header.csv", "1.5,x\n2.5,y\n")
    assert playground.run(ERROR) is None or "header.csv" in playground.run(ERROR)
    give_csv(playground, tmp_path / "led.csv", csv_of("synth:led", 300))
    assert playground.run(ERROR) is None
    assert playground.run(STATUS_TEXT) == "Press Start."
    choose(playground, "learner", "hoeffding")
    crc_of_run(playground)
    assert not playground.run(HIDDEN)
    give_csv(playground, tmp_path / "other.csv", csv_of("synth:sea_0", 300))
    assert playground.run(HIDDEN)
    assert playground.run(STATUS_TEXT) == "Press Start."
    give_csv(playground, tmp_path / "two.csv", "a,b,y\n" + "1,x,p\n2,y,q\n" * 30)
    crc_of_run(playground)
    choose(playground, "label", "b")
    assert playground.run(HIDDEN)


def test_a_new_choice_removes_the_results_of_the_last_run(
    playground: Browser, tmp_path: Path
) -> None:
    give_csv(playground, tmp_path / "led.csv", csv_of("synth:led", 300))
    choose(playground, "learner", "hoeffding")
    for name, value in (("board", "rpi_pico2"), ("learner", "shrub"), ("stream", "sea")):
        crc_of_run(playground)  # waits for a checksum, so the last one is gone
        assert not playground.run(HIDDEN)
        choose(playground, name, value)
        assert playground.run(HIDDEN), name
        give_csv(playground, tmp_path / f"led-{name}.csv", csv_of("synth:led", 300))
        choose(playground, "learner", "hoeffding")
    crc_of_run(playground)
    playground.run(
        "document.querySelector('#option-leaf').dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert playground.run(HIDDEN)
    assert playground.run(STATUS_TEXT) == "Press Start."


def test_a_screen_reader_gets_the_end_and_not_each_step(
    playground: Browser, tmp_path: Path
) -> None:
    playground.run(
        f"spoken = []; new MutationObserver(() => {{ if ({STATUS}.ariaLive !== 'off') "
        f"spoken.push({STATUS_TEXT}); }}).observe({STATUS}, {{childList: true}}); void 0"
    )
    give_csv(playground, tmp_path / "led.csv", csv_of("synth:led", 2000))
    choose(playground, "learner", "hoeffding")
    crc_of_run(playground)
    assert "2,000 samples learned" in playground.run("spoken.at(-1)")
    assert playground.run("spoken.filter((text) => text.includes('a second')).length") == 0


def test_fields_have_the_same_height(playground: Browser) -> None:
    fields = "[...document.querySelectorAll('form > .field > :is(select, input)')]"
    heights = playground.run(fields + ".map((each) => each.offsetHeight)")
    assert len(set(heights)) == 1


def test_a_file_without_a_table_is_refused_when_it_is_chosen(
    playground: Browser, tmp_path: Path
) -> None:
    give_csv(playground, tmp_path / "good.csv", "a,y\n1,x\n2,y\n")
    path = tmp_path / "book.csv"
    path.write_bytes(b"PK\x03\x04" + bytes(26) + b"xl/workbook.xml" + bytes(90))
    playground.give_file("#file", path)
    assert "book.csv is an Excel workbook" in playground.wait(ERROR)
    assert playground.run("document.querySelector('#label').options.length") == 0


def test_notes_on_a_file_are_shown(playground: Browser, tmp_path: Path) -> None:
    rows = "".join(f"{i * 20},{i % 7},{'ab'[i % 2]}\n" for i in range(300))
    give_csv(playground, tmp_path / "r.csv", "time,x,label\n" + rows)
    choose(playground, "learner", "hoeffding")
    crc_of_run(playground)
    notes = "document.querySelector('#notes')"
    assert "column time is left out" in playground.run(f"{notes}.textContent")
    give_csv(playground, tmp_path / "led.csv", csv_of("synth:led", 300))
    assert playground.run(f"{notes}.hidden")


def leave_out(page: Browser, column: str) -> None:
    page.run(f"document.querySelector('#drop input[value=\"{column}\"]').click()")


def test_a_column_that_reveals_the_label_is_left_out(playground: Browser, tmp_path: Path) -> None:
    """An id and a clock are noted and dropped as on the command line."""
    rows = "".join(f"{i * 20},{i},{i * 7 % 11},{i % 5},{'ab'[i % 5 > 2]}\n" for i in range(300))
    path = tmp_path / "ids.csv"
    give_csv(playground, path, "time,sample_id,x,z,label\n" + rows)
    choose(playground, "learner", "hoeffding")
    crc_of_run(playground)
    notes = "document.querySelector('#notes').textContent"
    for stream in (open_stream(str(path)), None):
        text = " ".join(stream.notes) if stream else playground.run(notes)
        assert "column time is left out" in text
        assert "sample_id only rises and is" in text
    leave_out(playground, "sample_id")
    assert playground.run(HIDDEN)
    assert playground.run("document.querySelector('#drop input[value=time]').checked")
    expected = simulate(open_stream(str(path), drop=["time", "sample_id"]), "hoeffding")
    assert crc_of_run(playground) == expected.state_crc32
    assert playground.run("document.querySelector('#notes').hidden")
    shown = playground.run("document.querySelector('#state pre').textContent")
    wanted = "microshrub simulate ids.csv --drop time sample_id --model hoeffding --details"
    assert shown == wanted
    choose(playground, "label", "x")
    assert playground.run("document.querySelectorAll('#drop input:checked').length") == 0
    boxes = "[...document.querySelectorAll('#drop input')].map((each) => each.value)"
    assert playground.run(boxes) == ["time", "sample_id", "z", "label"]


def test_leaving_out_all_columns_is_an_error(playground: Browser, tmp_path: Path) -> None:
    give_csv(playground, tmp_path / "few.csv", "a,y\n" + "1,p\n2,q\n" * 30)
    leave_out(playground, "a")
    start(playground)
    assert "There are 0 feature columns" in playground.wait(ERROR)


def test_a_large_file_is_read_in_the_background_and_can_be_stopped(
    playground: Browser, tmp_path: Path
) -> None:
    """The page shows the progress, and still reacts: a press ends the reading."""
    give_csv(playground, tmp_path / "large.csv", long_csv(500_000))
    start(playground)
    text = playground.wait(
        f"/Reading large.csv: [1-9]\\d* %/.test({STATUS_TEXT}) && {STATUS_TEXT}", RUN
    )
    assert "%" in text
    start(playground)
    playground.wait(f"{STATUS_TEXT} === 'Stopped while the file was read.'", RUN)
    assert playground.run(HIDDEN)
    give_csv(playground, tmp_path / "led.csv", csv_of("synth:led", 300))
    choose(playground, "learner", "hoeffding")
    crc_of_run(playground)


def test_a_long_run_shows_its_remaining_time_and_ends_with_another_file(
    playground: Browser, tmp_path: Path
) -> None:
    give_csv(playground, tmp_path / "long.csv", long_csv(200_000, columns=3))
    choose(playground, "learner", "thicket")
    start(playground)
    # The line also shows the remaining time while the file is read
    long = "/of 200,000 samples.*about [\\d,]+ (s|min|hours?) left$/"
    playground.wait(f"{long}.test({STATUS_TEXT})", RUN)
    give_csv(playground, tmp_path / "led.csv", csv_of("synth:led", 300))
    assert playground.run(STATUS_TEXT) == "Press Start."
    choose(playground, "learner", "hoeffding")
    assert crc_of_run(playground) != 0
    assert "300 samples learned" in playground.wait(
        f"/learned/.test({STATUS_TEXT}) && {STATUS_TEXT}", RUN
    )


def test_a_sample_of_many_rows_is_evaluated_first(playground: Browser, tmp_path: Path) -> None:
    """The estimate is displayed during the run, until the figure of all rows is known."""
    give_csv(playground, tmp_path / "long.csv", csv_of("synth:sea_a", 60_000))
    choose(playground, "learner", "thicket")
    set_option(playground, "bytes", 65536)
    start(playground)
    ahead = "document.querySelector('#ahead').textContent"
    figure = playground.wait(f"/rows/.test({ahead}) && !/first/.test({ahead}) && {ahead}", RUN)
    match = re.fullmatch(
        r"On unseen data: (\d+) % of [\d,]+ samples \(guessing: (\d+) %\), "
        r"from a sample of ([\d,]+) of the 60,000 rows", figure
    )  # fmt: skip
    assert match, figure
    assert int(match[1]) >= 50  # a slow machine's sample has forty test rows
    start(playground)  # the button is Stop by now, unless the run is over
    playground.wait("!!document.querySelector('#take-program')", RUN)


def test_the_first_run_fits_its_board(playground: Browser) -> None:
    start(playground)
    playground.wait("document.querySelector('#newest').textContent")
    start(playground)  # the button is Stop by now
    playground.wait("!!document.querySelector('#take-program')")
    assert playground.run("document.querySelector('#playground .results .bad')") is None


def test_the_chart_has_the_colours_of_the_page(playground: Browser) -> None:
    """The colours follow the page when it changes its scheme."""
    choose_quick(playground)
    crc_of_run(playground)
    marker = "getComputedStyle(document.querySelectorAll('.u-legend .u-marker')[1]).borderTopColor"
    results = []
    for scheme in ("light", "dark"):
        wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        playground.call("Emulation.setEmulatedMedia", features=wanted)
        playground.run(
            "(() => { const paint = document.createElement('i');"
            "paint.style.color = 'var(--model)'; document.body.append(paint);"
            "window.paint = paint; })()"
        )
        playground.wait(f"{marker} === getComputedStyle(window.paint).color")
        results.append(playground.run(marker))
    assert results[0] != results[1]
