"""Debian's docker-registry on this machine: by plain HTTP, with TLS, with a server of tokens."""

import base64
import datetime
import ipaddress
import json
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID
from unit.helpers.publication import USER
from unit.helpers.serving import Request, closed_port, web_server


@dataclass(frozen=True)
class Running:
    """A registry: its host and port, the folder of its data, its certificate if it has TLS.

    scopes: what clients asked tokens for, each with whether they sent the right password.
    """

    host: str
    data: Path
    certificate: Path | None = None
    scopes: list[tuple[str, bool]] = field(default_factory=list)

    def address(self, name: str) -> str:
        return f"{'oci' if self.certificate else 'oci+http'}://{self.host}/{name}"

    def blobs(self) -> set[str]:
        """Return the SHA-256 of each blob that it has."""
        return {path.parent.name for path in self.data.glob("**/blobs/sha256/*/*/data")}


@contextmanager
def registry(
    folder: Path, certificate: Path | None = None, port: int = 0, more: str = ""
) -> Iterator[Running]:
    """Run a registry, with TLS if a certificate is given; skip the test if there is none.

    port: by default any free one. more: lines of its settings.
    """
    program = shutil.which("docker-registry")
    if not program:
        pytest.skip("docker-registry is not installed (Debian's package docker-registry)")
    port = port or closed_port()
    data, settings = folder / "data", folder / "config.yml"
    data.mkdir(parents=True, exist_ok=True)
    tls = f"  tls: {{certificate: {certificate}, key: {certificate}}}\n" if certificate else ""
    settings.write_text(
        "version: 0.1\nlog: {level: warn}\n"
        f"storage: {{filesystem: {{rootdirectory: {data}}}}}\n"
        f"http:\n  addr: 127.0.0.1:{port}\n{tls}{more}"
    )
    with (folder / "log").open("wb") as output:
        process = subprocess.Popen([program, "serve", settings], stdout=output, stderr=output)
    try:
        _wait(f"{'https' if certificate else 'http'}://localhost:{port}/v2/")
        yield Running(f"localhost:{port}", data, certificate)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(url: str) -> None:
    """Return when the registry answers, with any status and certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    end = time.monotonic() + 20
    while True:
        try:
            urlopen(url, timeout=5, context=context).close()
        except HTTPError:
            return
        except OSError as error:
            assert time.monotonic() < end, f"the registry did not start: {error}"
            time.sleep(0.02)
        else:
            return


def write_certificate(path: Path, around: datetime.datetime, days: int) -> None:
    """Write a certificate for this machine with its key, valid for days before and after."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(around - datetime.timedelta(days))
        .not_valid_after(around + datetime.timedelta(days))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    path.write_bytes(made.public_bytes(Encoding.PEM) + private)


@contextmanager
def registry_with_tokens(folder: Path, port: int = 0) -> Iterator[Running]:
    """Run a registry with TLS: anyone may pull by an anonymous token, USER may push."""
    folder.mkdir(parents=True, exist_ok=True)
    pem = folder / "localhost.pem"
    write_certificate(pem, datetime.datetime.now(datetime.timezone.utc), 1)
    key = load_pem_private_key(pem.read_bytes(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    der = x509.load_pem_x509_certificate(pem.read_bytes()).public_bytes(Encoding.DER)
    header = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der).decode()]}
    scopes: list[tuple[str, bool]] = []

    def reply(request: Request) -> None:
        asked = parse_qs(urlsplit(request.path).query)
        may_push = request.headers.get("Authorization") == f"Basic {USER}"
        [scope] = asked["scope"]
        kind, name, actions = scope.split(":")
        scopes.append((scope, may_push))
        granted = [one for one in actions.split(",") if one == "pull" or may_push]
        now = int(time.time())
        claims = {
            **{"iss": "test", "sub": "", "aud": asked["service"][0], "jti": str(len(scopes))},
            **{"exp": now + 300, "nbf": now - 5, "iat": now},
            "access": [{"type": kind, "name": name, "actions": granted}],
        }
        text = b".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
        signature = key.sign(text, padding.PKCS1v15(), hashes.SHA256())
        token = (text + b"." + _encoded(signature)).decode()
        request.send(200, {}, json.dumps({"token": token}).encode())

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with web_server(reply, tls=context) as server:
        realm = f"https://localhost:{server}/token"
        token = f"{{realm: '{realm}', service: reg, issuer: test, rootcertbundle: {pem}}}"
        with registry(folder, pem, port, f"auth:\n  token: {token}\n") as running:
            yield Running(running.host, running.data, pem, scopes)


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
