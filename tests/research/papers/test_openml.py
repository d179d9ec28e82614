"""Data sets from a server like OpenML's: here a real one with made-up descriptions."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from microshrub_research.papers import openml, paper_streams

ARFF = b"""@relation made
@attribute x numeric
@attribute Delay {0,1}
@attribute y numeric
@data
""" + b"".join(b"%d,%d,%d\n" % (i % 7, i > 40, i % 3) for i in range(50))
MD5 = hashlib.md5(ARFF).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """A server of files by path; `asked` has the requested paths, in order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.cut = False  # files end half-way
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def put(self, number: int, samples: int, **changes: Any) -> None:
        """Add a description of the data set with this number, and its entry in the list."""
        about = {
            "id": str(number),
            "name": "airlines",
            "version": "1",
            "format": "ARFF",
            "url": f"{self.address}/file/{number}.arff",
            "md5_checksum": MD5,
            "default_target_attribute": "Delay",
        } | changes
        self.files[f"/data/{number}"] = json.dumps({"data_set_description": about}).encode()
        self.files[f"/file/{number}.arff"] = ARFF
        path = "/data/list/data_name/airlines/status/active"
        known = json.loads(self.files.get(path, b'{"data": {"dataset": []}}'))
        quality = [{"name": "NumberOfInstances", "value": f"{samples}.0"}]
        known["data"]["dataset"].append({"did": number, "quality": quality})
        self.files[path] = json.dumps(known).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        data = self.server.files.get(self.path)
        if data is None:
            self.send_error(412)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if self.server.cut else data)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    with serving() as openml_server:
        monkeypatch.setenv("MICROSHRUB_OPENML", openml_server.address)
        yield openml_server


def files(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache" / "openml").iterdir())


def test_a_data_set_is_fetched_once(server: Server, tmp_path: Path) -> None:
    server.put(7, 539_383)
    server.put(3, 50)
    server.put(9, 50)
    path, about = openml.fetch("airlines", 50)
    assert path.read_bytes() == ARFF
    assert (about.number, about.label, about.md5) == (3, "Delay", MD5)
    assert files(tmp_path) == sorted([f"{MD5}.arff", "airlines-50.json"])
    requests = list(server.asked)
    assert requests[1:] == ["/data/3", "/file/3.arff"]
    assert openml.fetch("airlines", 50) == (path, about)
    assert server.asked == requests


def test_a_wrong_checksum_is_refused(server: Server, tmp_path: Path) -> None:
    server.put(3, 50, md5_checksum="0" * 32)
    with pytest.raises(openml.OpenmlError, match=f"its MD5 is {MD5}, and .* says 0000"):
        openml.fetch("airlines", 50)
    assert files(tmp_path) == []
    server.put(2, 50)
    assert openml.fetch("airlines", 50)[1].number == 2


def test_a_truncated_download_is_refused(server: Server, tmp_path: Path) -> None:
    server.put(3, 50)
    about = openml.describe("airlines", 50)
    server.cut = True
    with pytest.raises(openml.OpenmlError, match="cut off"):
        openml._download(about, tmp_path / "cache" / "x.arff", None)
    assert not (tmp_path / "cache" / "x.arff").exists()
    with pytest.raises(openml.OpenmlError):
        openml.describe("airlines", 50)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"url": "file:///etc/hostname"}, "no address"),
        ({"md5_checksum": None}, "no checksum"),
        ({"format": "Parquet"}, "not an ARFF file"),
        ({"url": "URL/nowhere.arff"}, "answers 412"),
    ],
)
def test_unusable_data_sets_are_refused(
    server: Server, changes: dict[str, str], message: str
) -> None:
    if "URL" in str(changes.get("url")):
        changes = {"url": changes["url"].replace("URL", server.address)}
    server.put(3, 50, **changes)
    with pytest.raises(openml.OpenmlError, match=message):
        openml.fetch("airlines", 50)


def test_unusable_answers_are_refused(server: Server) -> None:
    path = "/data/list/data_name/airlines/status/active"
    with pytest.raises(openml.OpenmlError, match="answers 412"):
        openml.fetch("airlines", 50)
    for answer, error in ((b"<html>", "not JSON"), (b"{}", "has no data"), (b"[]", "has no data")):
        server.files[path] = answer
        with pytest.raises(openml.OpenmlError, match=error):
            openml.fetch("airlines", 50)
    del server.files[path]
    server.put(3, 50)
    with pytest.raises(openml.OpenmlError, match="airlines of 60 samples"):
        openml.fetch("airlines", 60)


def test_streams_are_found_by_name(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is preferred to OpenML, and the class is the column in OpenML's description."""
    monkeypatch.setitem(paper_streams.OPENML, "airlines", ("airlines", 50))
    server.put(3, 50)
    (tmp_path / "elec.csv").write_text("x,class\n1,a\n2,b\n")
    names = ["airlines", "elec", "nomao", "weather", "sea_a"]
    streams, notes = paper_streams.find(names, tmp_path)
    assert list(streams) == ["airlines", "elec", "sea_a"]
    assert [note.split(" is skipped")[0] for note in notes] == [
        "The stream nomao",
        "The stream weather",
    ]
    stream = streams["airlines"].open(limit=45)
    assert (stream.name, stream.feature_names, len(stream.labels)) == ("airlines", ("x", "y"), 45)
    assert stream.labels.tolist() == [int(i > 40) for i in range(45)], "known though it is late"
    assert streams["airlines"].origin == f"OpenML 3: airlines, version 1, MD5 {MD5}"
    assert streams["elec"].open(None).class_names == ("a", "b")


def test_streams_of_an_unreachable_server_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    with serving() as server:
        address = server.address
    monkeypatch.setenv("MICROSHRUB_OPENML", address)
    streams, notes = paper_streams.find(["nomao", "covtype", "rbf_m"], tmp_path)
    assert list(streams) == ["rbf_m"]
    assert "cannot be reached" in notes[0]
    assert "covtype is skipped" in notes[1]
    assert "cannot be reached" in notes[1]
