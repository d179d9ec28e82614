"""The certificate of the authority that signed a broker's certificate: --mqtt-ca."""

from __future__ import annotations

import re
import ssl
from pathlib import Path

from microshrub_host.base.errors import UserError

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


def read(path: Path) -> bytes:
    """Read a certificate in PEM or DER, as DER: not every board reads PEM. Raises UserError."""
    try:
        data = path.read_bytes()
        result = _PEM.findall(data)
        if len(result) > 1:
            raise UserError(
                f"--mqtt-ca {path} has {len(result)} certificates: name a file with the one that "
                "signed the broker's"
            )
        if result:
            data = ssl.PEM_cert_to_DER_cert(result[0].decode())
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=data)
    except (ssl.SSLError, ValueError):
        raise UserError(f"--mqtt-ca {path} is no certificate") from None
    except OSError as error:
        raise UserError(f"--mqtt-ca {path}: {error.strerror}") from None
    return data
