"""Debian's i386 packages on an x86 Linux: fetched and unpacked into a folder of one's own.

Without root and without touching the system: apt-get gets a configuration, package lists and a
status of its own. The mirror is the one that this machine's apt uses already.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
X86 = ("x86_64", "amd64", "i386", "i486", "i586", "i686")

ASK_SECONDS = 20
FETCH_SECONDS = 300

# Everything that apt reads and writes is in the folder WORK, and what the machine has set up for
# its own updates, hooks and pins, stays out of it. The sandbox user _apt could not enter WORK.
APT_CONF = """\
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
#clear APT::Architectures;
APT::Architecture "i386";
APT::Architectures "i386";
APT::Default-Release "";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Retries "1";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
Dir::Etc::sourcelist "WORK/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::Lists "WORK/lists";
Dir::State::status "WORK/status";
Dir::Cache "WORK/cache";
"""

Progress = Callable[[str], None]


class PackagesError(Exception):
    """Why the packages cannot be had, in sentences for people."""


class CommandError(Exception):
    """A helper program failed; the message is the end of what it said, `last_line` less of it."""

    def __init__(self, message: str, last_line: str = "") -> None:
        super().__init__(message)
        self.last_line = last_line or message


def check_machine() -> None:
    """Raises PackagesError on a machine where fetching cannot work."""
    if sys.platform != "linux" or platform.machine().lower() not in X86:
        here = f"{sys.platform} on {platform.machine()}"
        raise PackagesError(f"Only x86 Linux runs what can be fetched; this is {here}.")
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise PackagesError(f"Fetching MicroPython needs {tool}, which is not here.")
    if not KEYRING.is_file():
        text = f"Fetching MicroPython needs Debian's signing keys, {KEYRING}"
        raise PackagesError(f"{text} (package debian-archive-keyring).")


def fetch(suite: str, packages: Sequence[str], work: Path, progress: Progress) -> Path:
    """Unpack the packages of a Debian release under the empty folder `work`; returns their root.

    `progress` gets a line of text before each step. Raises PackagesError when no mirror has them,
    CommandError when they do not unpack and OSError when `work` cannot be written.
    """
    _download(suite, packages, work, progress)
    progress("unpacking")
    for package in sorted(work.glob("*.deb")):
        run(("dpkg-deb", "-x", str(package), str(work / "root")), FETCH_SECONDS)
    return work / "root"


def _download(suite: str, packages: Sequence[str], work: Path, progress: Progress) -> None:
    """The packages as .deb files in `work`, from the first mirror that gives them."""
    failures = []
    for site in _sites():
        try:
            _download_from(site, suite, packages, work, progress)
            return
        except CommandError as error:
            failures.append(f"\n  {site}: {error}")
    tried = "".join(failures) or "\n  (apt is not set up for any)"
    raise PackagesError(_without_passwords(f"No mirror gave Debian's packages:{tried}\n"))


def _download_from(
    site: str, suite: str, packages: Sequence[str], work: Path, progress: Progress
) -> None:
    for folder in ("lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    options = f"arch=i386 target=Packages lang=none signed-by={KEYRING}"
    (work / "sources.list").write_text(f"deb [{options}] {site} {suite} main\n")
    (work / "apt.conf").write_text(APT_CONF.replace("WORK", str(work)))
    (work / "status").touch()
    apt_get = ("apt-get", "-q", "-c", str(work / "apt.conf"))
    progress(_without_passwords(f"reading the package index of {site} ({suite}, i386)"))
    run((*apt_get, "update"), FETCH_SECONDS, work)
    progress(f"downloading {len(packages)} packages")
    run((*apt_get, "download", *packages), FETCH_SECONDS, work)


# --- Debian's mirror, as this machine's apt knows it ---------------------------------------------


def _sites() -> list[str]:
    """URIs that this machine's apt gets Debian from, the likeliest first."""
    sites = _sites_of_indexes() + _sites_of_sources()
    wanted = [site for site in dict.fromkeys(sites) if not re.match("cdrom:|.*security/?$", site)]
    return sorted(wanted, key=lambda site: not site.rstrip("/").endswith("debian"))


def _sites_of_indexes() -> list[str]:
    """Of the package indexes that apt has read; none before the first `apt-get update`."""
    try:
        said = run(("apt-get", "indextargets", "--format", "$(LABEL)\t$(SITE)"), ASK_SECONDS)
    except CommandError:
        return []
    pairs = [line.partition("\t") for line in said.splitlines()]
    return [site for label, _, site in pairs if label == "Debian" and site]


def _sites_of_sources() -> list[str]:
    """Of the files that apt is set up with, sources.list and sources.list.d."""
    ask = ("shell", "MAIN", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d")
    try:
        said = run(("apt-config", *ask), ASK_SECONDS)
    except CommandError:
        return []
    places = dict(word.split("=", 1) for word in shlex.split(said))
    parts = Path(places.get("PARTS", os.devnull))
    files = [Path(places.get("MAIN", os.devnull)), *sorted(parts.glob("*"))]
    return [site for file in files if file.is_file() for site in _sites_in(file)]


def _sites_in(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix == ".list":
        return re.findall(r"(?m)^\s*deb\s+(?:\[[^\]\n]*\]\s*)?(\S+)", text)
    return _sites_in_stanzas(text) if file.suffix == ".sources" else []


def _sites_in_stanzas(text: str) -> list[str]:
    """The URIs of deb822 stanzas; a field goes on in the lines that begin with a blank."""
    text = re.sub(r"(?m)^#.*\n?", "", text)
    sites: list[str] = []
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"(?m)^([\w-]+):((?:.*)(?:\n[ \t].*)*)", stanza))
        lower = {name.lower(): value.split() for name, value in fields.items()}
        if "deb" in lower.get("types", []) and lower.get("enabled", ["yes"]) != ["no"]:
            sites += lower.get("uris", [])
    return sites


# --- Running -------------------------------------------------------------------------------------


def run(command: Sequence[str], seconds: float, folder: Path | None = None) -> str:
    """Standard output of a command. Raises CommandError, also when it takes too long."""
    pipe = subprocess.PIPE
    env = {**os.environ, "LC_ALL": "C"}
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, cwd=folder, env=env,
            start_new_session=True, text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise CommandError(getattr(error, "strerror", None) or str(error)) from error
    with process:
        said, complaint = _wait(process, seconds)
    if process.returncode != 0:
        lines = complaint.strip().splitlines()[-3:] or [f"it ended with {process.returncode}"]
        raise CommandError(" ".join(lines)[-300:], lines[-1])
    return said


def _wait(process: subprocess.Popen[str], seconds: float) -> tuple[str, str]:
    try:
        return process.communicate(timeout=seconds)
    except BaseException as error:
        _kill(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise CommandError(f"no answer in {seconds:.0f} seconds") from error
        raise


def _kill(process: subprocess.Popen[str]) -> None:
    """End it, with the helpers that apt-get starts."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


def _without_passwords(text: str) -> str:
    return re.sub(r"//[^/@\s]*@", "//", text)
