"""Debian's docker-registry on this machine: by plain HTTP, or with TLS and a server of tokens."""

from __future__ import annotations

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
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from unit.helpers.serving import closed_port
from unit.helpers.web_server import Request, web_server

USER = base64.b64encode(b"me:hunter2").decode()


@dataclass(frozen=True)
class Running:
    """A registry: its host and port, the file of its CA if it has TLS, the folder of its data.

    scopes: what clients asked tokens for, each with whether they sent the right password.
    """

    host: str
    data: Path
    ca: Path | None = None
    scopes: list[tuple[str, bool]] = field(default_factory=list)

    def address(self, name: str) -> str:
        return f"{'oci' if self.ca else 'oci+http'}://{self.host}/{name}"

    def blobs(self) -> set[str]:
        """Return the SHA-256 of each blob that it has."""
        return {path.parent.name for path in self.data.glob("**/blobs/sha256/*/*/data")}


@contextmanager
def registry(folder: Path) -> Iterator[Running]:
    """Run a registry without TLS and tokens; skip the test if there is none."""
    port = closed_port()
    with _running(folder, port, "") as data:
        _wait(f"http://127.0.0.1:{port}/v2/", None)
        yield Running(f"127.0.0.1:{port}", data)


@contextmanager
def registry_with_tls(folder: Path, certificate: Path) -> Iterator[Running]:
    """Run a registry with TLS by a certificate, with its key, whatever the year it is made for."""
    port = closed_port()
    tls = f"  tls: {{certificate: {certificate}, key: {certificate}}}\n"
    with _running(folder, port, tls) as data:
        _wait(f"https://localhost:{port}/v2/", certificate, ssl.CERT_NONE)
        yield Running(f"localhost:{port}", data, certificate)


@contextmanager
def registry_with_tokens(folder: Path, port: int = 0) -> Iterator[Running]:
    """Run a registry with TLS: anyone may pull by an anonymous token, USER may push.

    port: by default any free one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key = rsa.generate_private_key(65537, 2048)
    own = certificate(key, datetime.datetime.now(datetime.timezone.utc), 1, is_ca=False)
    (folder / "ca.pem").write_bytes(own.public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(pem_of(key))
    port = port or closed_port()
    running = Running(f"localhost:{port}", folder / "data", folder / "ca.pem")
    with _serving_tokens(folder, key, own, running) as realm:
        tls = f"  tls: {{certificate: {folder}/ca.pem, key: {folder}/key.pem}}\n"
        token = f"{{realm: '{realm}', service: reg, issuer: test, rootcertbundle: {folder}/ca.pem}}"
        with _running(folder, port, f"{tls}auth:\n  token: {token}\n"):
            _wait(f"https://localhost:{port}/v2/", folder / "ca.pem")
            yield running


@contextmanager
def _running(folder: Path, port: int, more: str) -> Iterator[Path]:
    program = shutil.which("docker-registry")
    if not program:
        pytest.skip("docker-registry is not installed (Debian's package docker-registry)")
    data, settings = folder / "data", folder / "config.yml"
    data.mkdir(parents=True, exist_ok=True)
    settings.write_text(
        "version: 0.1\nlog: {level: warn}\n"
        f"storage: {{filesystem: {{rootdirectory: {data}}}}}\n"
        f"http:\n  addr: 127.0.0.1:{port}\n{more}"
    )
    with (folder / "log").open("wb") as output:
        process = subprocess.Popen([program, "serve", settings], stdout=output, stderr=output)
    try:
        yield data
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(url: str, ca: Path | None, checked: ssl.VerifyMode = ssl.CERT_REQUIRED) -> None:
    """Return when the registry answers, with any status."""
    context = ssl.create_default_context(cafile=ca) if ca else None
    if context and checked == ssl.CERT_NONE:
        context.check_hostname = False
        context.verify_mode = checked
    end = time.monotonic() + 20
    while True:
        try:
            with urlopen(url, timeout=5, context=context):
                return
        except OSError as error:
            if hasattr(error, "code"):
                return
            assert time.monotonic() < end, f"the registry did not start: {error}"
            time.sleep(0.02)


def certificate(
    key: Any, around: datetime.datetime, days: int, *, is_ca: bool, signer: Any = None
) -> x509.Certificate:
    """Return a certificate for this machine, valid for days before and after a moment.

    key: its private key. signer: the private key of the CA, by default its own.
    """
    issuer, subject = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        for name in ("ca" if signer or is_ca else "localhost", "ca" if is_ca else "localhost")
    )
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(around - datetime.timedelta(days))
        .not_valid_after(around + datetime.timedelta(days))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .sign(signer or key, hashes.SHA256())
    )


def pem_of(key: Any) -> bytes:
    """Return the text of a private key."""
    pem: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return pem


@contextmanager
def _serving_tokens(
    folder: Path, key: rsa.RSAPrivateKey, own: x509.Certificate, running: Running
) -> Iterator[str]:
    chain = [base64.b64encode(own.public_bytes(Encoding.DER)).decode()]

    def reply(request: Request) -> None:
        asked = parse_qs(urlsplit(request.path).query)
        may_push = request.headers.get("Authorization") == f"Basic {USER}"
        [scope] = asked["scope"]
        kind, name, actions = scope.split(":")
        running.scopes.append((scope, may_push))
        granted = [one for one in actions.split(",") if one == "pull" or may_push]
        now = int(time.time())
        claims = {
            "iss": "test",
            "sub": "",
            "aud": asked["service"][0],
            "exp": now + 300,
            "nbf": now - 5,
            "iat": now,
            "jti": str(len(running.scopes)),
            "access": [{"type": kind, "name": name, "actions": granted}],
        }
        header = {"typ": "JWT", "alg": "RS256", "x5c": chain}
        text = b".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
        signature = key.sign(text, padding.PKCS1v15(), hashes.SHA256())
        token = (text + b"." + _encoded(signature)).decode()
        body = json.dumps({"token": token}).encode()
        request.send(200, {}, body)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.pem", folder / "key.pem")
    with web_server(reply, tls=context) as port:
        yield f"https://localhost:{port}/token"


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
