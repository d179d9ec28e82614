"""The link in TypeScript against the device's own end, over a line that damages everything."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests_support import ROOT

from microshrub_host.engines import loader
from microshrub_tools.link_fuzz.damage import Damage
from microshrub_tools.link_fuzz.device_end import CheckingApplication

WEB = ROOT / "tools" / "web"
PATIENCE = 120  # seconds
SILENCE = 0.02  # seconds after which a cut of the line is over

# Request k of device_end.py, and what answers it
PROGRAM = """
import { Link } from "./bundle.mjs";
const port = { take() {}, lost() {}, write: async (data) => void process.stdout.write(data) };
process.stdin.on("data", (data) => port.take(new Uint8Array(data)));
const times = { first: 40, longest: 80, giveUp: 60000 };
const [link, welcome] = await Link.open(port, times);
const total = Number(process.argv[2]);
const factors = [1, -1, 40503, -3, 0];
function requested(k) {
  if (k % 5 === 0) {
    const view = new DataView(new ArrayBuffer(3));
    view.setUint16(0, k % 65536, true);
    view.setUint8(2, k % 7);
    return [5, view];
  }
  const label = (k % 8) - 1;
  const head = label < 0 ? 0 : 1;
  const view = new DataView(new ArrayBuffer(head + 20));
  if (head) view.setUint8(0, label);
  factors.forEach((factor, f) => view.setInt32(head + 4 * f, (k % 8192) * factor, true));
  return [head ? 4 : 3, view];
}
let wrong = welcome.features === 5 && welcome.classes === 7 ? 0 : 1;
const answers = [];
for (let k = 0; k < total; k++) {
  const [type, view] = requested(k);
  answers.push(link.request(type, new Uint8Array(view.buffer)).then((frame) => {
    const [a, b, guess, confidence] = frame.payload;
    const right = type === 5
      ? frame.type === 130
      : frame.type === 131 && a + 256 * b === (type === 3 ? k % 65536 : a + 256 * b) &&
        guess === (3 * k) % 7 && confidence === k % 256;
    if (!right) wrong++;
  }));
  if (link.pending > 64) await answers[answers.length - 32];
}
await Promise.all(answers);
process.stderr.write(`wrong ${wrong}`);
process.exit(0);
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    bundler = WEB / "node_modules" / ".bin" / "esbuild"
    if shutil.which("node") is None or not bundler.exists():
        pytest.skip("there is no node, or the page's packages are not installed: make web")
    entry = WEB / "src" / "link" / "link.ts"
    bundle = ["--bundle", "--format=esm", f"--outfile={tmp_path / 'bundle.mjs'}"]
    subprocess.run([str(bundler), str(entry), *bundle, "--log-level=error"], check=True)
    path = tmp_path / "program.mjs"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(("every", "frames"), [(10**9, 2000), (400, 2000), (120, 800)])
def test_each_request_is_applied_once_and_in_order(program: Path, every: int, frames: int) -> None:
    application = CheckingApplication()
    node = subprocess.Popen(
        ["node", str(program), str(frames)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert node.stdin
    assert node.stdout
    assert node.stderr
    up, down = Damage(1, every), Damage(2, every)
    to_node = node.stdin

    def answers(data: Any, size: int) -> None:
        to_node.write(down(bytes(data[:size])))
        to_node.flush()

    device: Any = loader.load("python").device.link
    link = device.Link(application, answers)
    silent = 0.0
    while silent < PATIENCE:
        if not select.select([node.stdout], [], [], SILENCE)[0]:
            silent += SILENCE
            up.end_cut()
            down.end_cut()
            continue
        silent = 0.0
        data = os.read(node.stdout.fileno(), 4096)
        if not data:
            break
        came = up(data)
        link.feed(bytearray(came), len(came))
    node.kill()
    said = node.stderr.read().decode()
    node.wait()
    assert said == "wrong 0"
    assert (application.applied, application.wrong) == (frames, 0)
    assert (up.faults + down.faults > 100) == (every < 1000)
