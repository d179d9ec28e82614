"""Certificates of unknown authorities."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

needs_openssl = pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl")
_CURVE = "ec_paramgen_curve:prime256v1"


def certificate(folder: Path, name: str, *more: str) -> bytes:
    """Return a new certificate as DER; write it to name.pem, too, and its key to name.key."""
    files = ["-keyout", f"{name}.key", "-out", f"{name}.pem"]
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", _CURVE, "-nodes", "-subj", f"/CN={name}"]
    subprocess.run(["openssl", *words, *files, *more], cwd=folder, check=True, capture_output=True)
    return ssl.PEM_cert_to_DER_cert((folder / f"{name}.pem").read_text())
