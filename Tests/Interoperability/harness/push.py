"""Web Push: a push service, and browsers that decrypt their messages with http_ece, an implementation of RFC 8188 by others."""

import base64
import json
import os
import pathlib
import sys

import http_ece
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from harness.receivers import objects

HERE = pathlib.Path(__file__).parent
UNCOMPRESSED = (serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class PushService:
    """A push service at a host, with a self-signed certificate. It answers each message with the next of these statuses, and
    all further ones with the last status."""

    def __init__(self, host, folder, *answers):
        self.certificate, key = folder / "push.pem", folder / "push.key"
        made = host.finish(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=push",
            "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", self.certificate)
        assert made.status == 0, made
        self.running = host.start(sys.executable, HERE / "push_program.py", self.certificate, key, *answers, name="push")
        port = self.running.seen_object(lambda told: "port" in told, 10, "the port").json["port"]
        self.origin = f"https://localhost:{port}"

    @property
    def options(self):
        """The options of the daemon."""
        return ["--push-service", self.origin, "--push-authority", self.certificate, "--push-contact", "mailto:house@example.org"]

    @property
    def messages(self):
        return [told for told in objects(self.running) if "path" in told]


class Browser:
    """The keys of a browser, and its address at a push service."""

    def __init__(self, service, name):
        self.key, self.auth = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.path = f"/send/{name}-{os.urandom(8).hex()}"
        self.subscription = {
            "endpoint": service.origin + self.path, "p256dh": encoded(self.key.public_key().public_bytes(*UNCOMPRESSED)),
            "auth": encoded(self.auth)}
        self.service = service

    @property
    def got(self):
        """The messages, decrypted."""
        return [json.loads(self.decrypted(told)) for told in self.service.messages if told["path"] == self.path]

    def decrypted(self, told):
        assert told["headers"]["content-encoding"] == "aes128gcm", told
        return http_ece.decrypt(
            base64.b64decode(told["body"]), private_key=self.key, auth_secret=self.auth, version="aes128gcm")


def claims_of(told, public_key):
    """Verifies the signature of a message (RFC 8292) with the daemon's public key, and returns the claims."""
    scheme, parameters = told["headers"]["authorization"].split(" ", 1)
    fields = dict(field.strip().split("=", 1) for field in parameters.split(","))
    assert scheme == "vapid" and fields["k"] == public_key, told
    signed, _, signature = fields["t"].rpartition(".")
    header, claims = (json.loads(decoded(part)) for part in signed.split("."))
    assert header == {"typ": "JWT", "alg": "ES256"}
    raw = decoded(signature)
    assert len(raw) == 64
    signature = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(public_key))
    key.verify(signature, signed.encode(), ec.ECDSA(hashes.SHA256()))
    return claims
