"""`microshrub web`: the files in a folder, and the server's answers."""

from __future__ import annotations

import functools
import http.client
import http.server
import shutil
import threading
from pathlib import Path

import pytest
from browser_support import Browser
from playground_support import choose_quick, crc_of_run

from microshrub_tools.cli.main import main
from microshrub_tools.web import site


def answer(address: str, path: str, host: str | None = None) -> http.client.HTTPResponse:
    name = address.split("/")[2]
    line = http.client.HTTPConnection(name.replace("localhost", site.HOST))
    line.request("GET", path, headers={"Host": host or name})
    return line.getresponse()


def test_the_files_are_written_to_a_new_folder_or_over_the_page(
    address: str, tmp_path: Path
) -> None:
    folder = tmp_path / "page"
    assert main(["web", "--output", str(folder)]) == 0
    assert (folder / "index.html").read_bytes() == (site.FOLDER / "index.html").read_bytes()
    assert main(["web", "--output", str(folder)]) == 0


def test_the_folder_can_be_hosted_anywhere(page: Browser, address: str, tmp_path: Path) -> None:
    """The page works below any path, with any web server."""
    assert main(["web", "--output", str(tmp_path / "some" / "page")]) == 0
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.2", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        page.open(f"http://127.0.0.2:{server.server_address[1]}/some/page/")
        page.wait("!!document.querySelector('#start')")
        choose_quick(page)
        crc_of_run(page)
        assert all("/some/page/" in url for url in page.requests)
        assert not page.complaints
        server.shutdown()


def test_a_folder_with_something_else_is_left_alone(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["web", "--output", str(tmp_path)]) == 2
    assert "something else" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_without_a_built_page_the_error_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(site, "FOLDER", tmp_path)
    assert main(["web"]) == 2
    assert "make web" in capsys.readouterr().err


def test_a_port_in_use_is_reported(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    port = address.rstrip("/").rpartition(":")[2]
    assert main(["web", "--http-port", port]) == 2
    assert "Choose another one" in capsys.readouterr().err


def test_the_page_allows_only_itself(address: str) -> None:
    text = answer(address, "/").read().decode()
    policy = text.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert "default-src 'none'" in policy
    sources = {word for rule in policy.split(";") for word in rule.split()[1:]}
    assert sources == {"'none'", "'self'", "'wasm-unsafe-eval'"}


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example:1"])
def test_the_name_of_another_host_is_refused(address: str, host: str) -> None:
    assert answer(address, "/", host).status == 403


def test_nothing_outside_of_the_page_is_served(address: str) -> None:
    assert answer(address, "/../site.py").status == 404
    assert answer(address, "/%2e%2e/site.py").status == 404


def test_the_page_takes_little_more_than_two_megabytes(address: str) -> None:
    assert sum(p.stat().st_size for p in site.FOLDER.rglob("*") if p.is_file()) < 2_200_000


@pytest.mark.skipif(not shutil.which("npm"), reason="no npm: `make optional` installs it")
def test_in_a_clone_the_page_is_built_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    built = tmp_path / "tools" / "microshrub_tools" / "web" / "site"
    (tmp_path / "tools" / "web").mkdir(parents=True)
    (tmp_path / "tools" / "web" / "package.json").write_text("{}")
    make = tmp_path / "Makefile"
    make.write_text(f"web:\n\t@echo 1 of 2\n\t@mkdir -p {built}\n\t@touch {built}/main.js\n")
    monkeypatch.setattr(site, "FOLDER", built)
    assert main(["web", "--output", str(tmp_path / "page")]) == 0
    assert "1 of 2" in capfd.readouterr().err
    make.write_text("web:\n\t@false\n")
    assert main(["web", "--output", str(tmp_path / "again")]) == 0  # already built
    (built / "main.js").unlink()
    assert main(["web"]) == 2
    assert "could not be built" in capfd.readouterr().err
    monkeypatch.setenv("PATH", "")
    assert main(["web"]) == 2
    assert "make and npm" in capfd.readouterr().err
