"""Debian packages and source packages, fetched and unpacked into our own folder.

No root is needed, and the system stays untouched: apt-get has its own configuration, package lists
and status. The mirrors are those of this machine's apt.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import IO

from . import child_process
from .child_process import patience

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
X86 = ("x86_64", "amd64", "i386", "i486", "i586", "i686")

ASK_SECONDS = 20
FETCH_SECONDS = 300

# Everything that apt reads and writes is in the folder WORK; the machine's hooks and pins are left
# out. The sandbox user _apt could not enter WORK.
APT_CONF = """\
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
#clear APT::Architectures;
APT::Architecture "ARCHITECTURE";
APT::Architectures "ARCHITECTURE";
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
Wanted = Callable[[str], bool]


def silent(line: str) -> None:
    """Ignore a line of progress."""


class PackagesError(Exception):
    """The packages cannot be fetched; `tried` has a line for each mirror that failed."""

    def __init__(self, reason: str, tried: Sequence[str] = ()) -> None:
        super().__init__("\n  ".join((reason, *tried)))
        self.reason = reason
        self.tried = tuple(tried)

    def with_advice(self, advice: str) -> str:
        """Return the message and the advice, which has its own line below a list of mirrors."""
        return ("\n" if self.tried else " ").join((str(self), advice))


class CommandError(Exception):
    """A program failed; the message is the end of its output, `last_line` just the last line."""

    def __init__(self, message: str, last_line: str = "") -> None:
        super().__init__(message)
        self.last_line = last_line or message


def check_machine(machines: Collection[str] = X86) -> None:
    """Raise PackagesError if fetching cannot work here; `machines` are the possible processors."""
    if sys.platform != "linux" or platform.machine().lower() not in machines:
        here = f"{sys.platform} on {platform.machine()}"
        wanted = "x86" if machines == X86 else "/".join(machines)
        raise PackagesError(f"Only {wanted} Linux runs what can be fetched; this is {here}.")
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise PackagesError(f"Fetching MicroPython needs {tool}, which is not here.")
    if not KEYRING.is_file():
        text = f"Fetching MicroPython needs Debian's signing keys, {KEYRING}"
        raise PackagesError(f"{text} (package debian-archive-keyring).")


def fetch(
    suite: str,
    packages: Sequence[str],
    work: Path,
    progress: Progress,
    *,
    architecture: str = "i386",
    wanted: Wanted | None = None,
) -> Path:
    """Unpack packages of a Debian release in the empty folder `work`; return their root.

    `wanted` tells whether to unpack a path of a package, such as "usr/bin/x"; by default, all
    paths are unpacked. `progress` receives a line of text before each step. Raises PackagesError
    if no mirror has the packages, CommandError if unpacking fails, and OSError if `work` cannot be
    written.
    """
    options = f"arch={architecture} target=Packages lang=none signed-by={KEYRING}"
    _download(
        f"deb [{options}] SITE {suite} main\n",
        architecture,
        (f"reading the package index of SITE ({suite}, {architecture})", ("update",)),
        (f"downloading {len(packages)} packages", ("download", *packages)),
        work,
        progress,
    )
    progress("unpacking")
    for package in sorted(work.glob("*.deb")):
        if wanted is None:
            run(("dpkg-deb", "-x", str(package), str(work / "root")), FETCH_SECONDS)
        else:
            _unpack_some(package, work / "root", wanted)
    return work / "root"


def fetch_source(suite: str, package: str, work: Path, progress: Progress, wanted: Wanted) -> Path:
    """Unpack a source package, without Debian's patches, in the empty folder `work`.

    `wanted` tells whether to unpack a path of the package, given without its first folder. Returns
    the path of that folder. Raises the same errors as fetch().
    """
    _download(
        f"deb-src [lang=none signed-by={KEYRING}] SITE {suite} main\n",
        "amd64",  # sources are the same for all machines
        (f"reading the source index of SITE ({suite})", ("update",)),
        (f"downloading the source of {package}", ("source", "--download-only", package)),
        work,
        progress,
    )
    progress("unpacking")
    (packed,) = work.glob("*.orig.tar.*")
    with tarfile.open(packed) as archive:
        _extract(archive, work / "root", lambda name: wanted(name.partition("/")[2]))
    (root,) = (work / "root").iterdir()
    return root


Step = tuple[str, tuple[str, ...]]  # progress text, and arguments for apt-get


def _download(
    source: str, architecture: str, update: Step, get: Step, work: Path, progress: Progress
) -> None:
    """Download files into `work` with apt-get, from the first mirror, SITE, that has them all."""
    failures = []
    for site in _sites():
        try:
            _configure(source.replace("SITE", site), architecture, work)
            for text, words in (update, get):
                progress(_without_passwords(text.replace("SITE", site)))
                command = ("apt-get", "-q", "-c", str(work / "apt.conf"), *words)
                run(command, FETCH_SECONDS, work)
            return
        except CommandError as error:
            failures.append(_without_passwords(f"{site}: {error}"))
    tried = failures or ["(apt is not set up for any)"]
    raise PackagesError("No mirror gave Debian's packages:", tried)


def _configure(source: str, architecture: str, work: Path) -> None:
    for folder in ("lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    (work / "sources.list").write_text(source)
    conf = APT_CONF.replace("WORK", str(work)).replace("ARCHITECTURE", architecture)
    (work / "apt.conf").write_text(conf)
    (work / "status").touch()


def _unpack_some(package: Path, root: Path, wanted: Wanted) -> None:
    command = ("dpkg-deb", "--fsys-tarfile", str(package))
    with child_process.start(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            _extract_stream(process.stdout, root, wanted)
        except (tarfile.TarError, OSError) as error:
            process.kill()
            raise CommandError(f"{package.name} does not unpack: {error}") from error


def _extract_stream(stream: IO[bytes], root: Path, wanted: Wanted) -> None:
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        _extract(archive, root, wanted)
    while stream.read(1 << 16):  # the padding after the archive's end
        pass


def _extract(archive: tarfile.TarFile, root: Path, wanted: Wanted) -> None:
    """Extract an archive, whose Debian signature apt has checked."""
    archive.extraction_filter = lambda member, path: member
    for member in archive:
        if not member.isdir() and wanted(member.name.removeprefix("./")):
            archive.extract(member, root)


# --- Debian's mirror, as this machine's apt knows it ---------------------------------------------


def _sites() -> list[str]:
    """Return the URIs of this machine's Debian mirrors, the likeliest first."""
    sites = _sites_of_indexes() + _sites_of_sources()
    wanted = [site for site in dict.fromkeys(sites) if not re.match("cdrom:|.*security/?$", site)]
    return sorted(wanted, key=lambda site: not site.rstrip("/").endswith("debian"))


def _sites_of_indexes() -> list[str]:
    """Return the URIs of apt's package indexes; none before the first `apt-get update`."""
    try:
        printed = run(("apt-get", "indextargets", "--format", "$(LABEL)\t$(SITE)"), ASK_SECONDS)
    except CommandError:
        return []
    pairs = [line.partition("\t") for line in printed.splitlines()]
    return [site for label, _, site in pairs if label == "Debian" and site]


def _sites_of_sources() -> list[str]:
    """Return the URIs in apt's settings, sources.list and sources.list.d."""
    ask = ("shell", "MAIN", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d")
    try:
        printed = run(("apt-config", *ask), ASK_SECONDS)
    except CommandError:
        return []
    places = dict(word.split("=", 1) for word in shlex.split(printed))
    parts = Path(places.get("PARTS", os.devnull))
    files = [Path(places.get("MAIN", os.devnull)), *sorted(parts.glob("*"))]
    return [site for file in files if file.is_file() for site in _sites_in(file)]


def _sites_in(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix == ".list":
        return re.findall(r"(?m)^\s*deb\s+(?:\[[^\]\n]*\]\s*)?(\S+)", text)
    return _sites_in_stanzas(text) if file.suffix == ".sources" else []


def _sites_in_stanzas(text: str) -> list[str]:
    """Return the URIs of deb822 stanzas; a line that begins with a blank continues a field."""
    text = re.sub(r"(?m)^#.*\n?", "", text)
    sites: list[str] = []
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"(?m)^([\w-]+):((?:.*)(?:\n[ \t].*)*)", stanza))
        lower = {name.lower(): value.split() for name, value in fields.items()}
        if "deb" in lower.get("types", []) and lower.get("enabled", ["yes"]) != ["no"]:
            sites += lower.get("uris", [])
    return sites


# --- Running -------------------------------------------------------------------------------------


def run(
    command: Sequence[str],
    seconds: float,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Return a command's standard output. Raises CommandError if it fails or takes too long."""
    pipe = subprocess.PIPE
    env = {**os.environ, "LC_ALL": "C", **(variables or {})}
    try:
        process = child_process.start(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, cwd=folder, env=env,
            start_new_session=True, text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise CommandError(getattr(error, "strerror", None) or str(error)) from error
    with process:
        printed, complaint = _wait(process, seconds)
    if process.returncode != 0:
        lines_of_apt = complaint.strip().splitlines()
        errors = [line for line in lines_of_apt if line.startswith("E: ")]  # of apt-get
        lines = errors[:1] or lines_of_apt[-3:] or [f"it ended with {process.returncode}"]
        raise CommandError(" ".join(lines)[-300:], lines[-1])
    return printed


def _wait(process: subprocess.Popen[str], seconds: float) -> tuple[str, str]:
    try:
        return process.communicate(timeout=patience(seconds))
    except BaseException as error:
        child_process.end_session(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise CommandError(f"no answer in {patience(seconds):.0f} seconds") from error
        raise


def _without_passwords(text: str) -> str:
    return re.sub(r"//[^/@\s]*@", "//", text)
