"""nginx with the fragment that docs/security.md prints, in front of a server."""

from __future__ import annotations

import datetime as dt
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.programs import Program
from tests.waiting import wait_until

from agentic_rag.embedded.loopback import free_port, is_free

DOCS = Path(__file__).resolve().parents[2] / "docs" / "security.md"
AROUND = """
daemon off;
pid {home}/nginx.pid;
error_log {home}/error.log;
events {{}}
http {{
access_log off;
client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi;
uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
{fragment}
}}
"""


def printed_fragment() -> str:
    """The block of the page."""
    return DOCS.read_text("utf-8").partition("```nginx\n")[2].partition("```")[0]


@contextmanager
def proxy_of(port: int, home: Path) -> Iterator[str]:
    """The address of a running proxy. Of the fragment only ports and the places of the certificate are others."""
    own, certificate, key = free_port(), home / "rag.pem", home / "rag.key"
    _write_certificate(certificate, key)
    fragment = printed_fragment()
    for printed, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{own} ssl"),
        ("/etc/ssl/rag.pem", str(certificate)),
        ("/etc/ssl/rag.key", str(key)),
        ("127.0.0.1:8080", f"127.0.0.1:{port}"),
    ):
        assert fragment.count(printed) == 1, printed
        fragment = fragment.replace(printed, here)
    configuration = home / "nginx.conf"
    configuration.write_text(AROUND.format(home=home, fragment=fragment))
    process = Program(["nginx", "-e", str(home / "error.log"), "-c", str(configuration)], stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: not is_free(own) or process.poll() is not None, "nginx listens", 20)
        assert process.poll() is None, (home / "error.log").read_text()
        yield f"https://127.0.0.1:{own}"
    finally:
        process.terminate()
        process.wait(20)


def _write_certificate(certificate: Path, key: Path) -> None:
    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(secret, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        secret.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
