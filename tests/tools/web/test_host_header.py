"""The page's servers answer only to their own host names, not to foreign names that lead here."""

from __future__ import annotations

import http.client
import threading

import pytest

from microshrub_tools.web import site


@pytest.mark.parametrize(
    ("port", "host", "known"),
    [
        (80, "localhost", True),  # as browsers write it
        (80, "127.0.0.1", True),
        (80, "localhost:80", True),
        (8080, "localhost:8080", True),
        (8080, "localhost", False),
        (80, "localhost:8080", False),
        (80, "evil.example", False),
        (8080, "evil.example:8080", False),
    ],
)
def test_the_port_of_http_is_left_out(port: int, host: str, known: bool) -> None:
    assert (host in site.hosts(port)) == known


@pytest.mark.parametrize("port", [0, 80])
def test_the_server_answers_only_to_its_own_names(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "file", lambda path: None)  # also if the page was not built
    try:
        server = site._Server(port)
    except OSError as error:
        pytest.skip(f"port {port} cannot be used: {error}")
    real = server.server_address[1]

    def status(host: str) -> int:
        line = http.client.HTTPConnection(site.HOST, real)
        line.request("GET", "/no-such-file", headers={"Host": host})
        return line.getresponse().status

    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert status("localhost" if port == 80 else f"localhost:{real}") == 404
        assert status("evil.example") == status(f"evil.example:{real}") == status("") == 403
        server.shutdown()
