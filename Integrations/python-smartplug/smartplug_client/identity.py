"""The controller's own key, and the keys of plugs."""

import contextlib
import datetime
import hashlib
import os
import ssl
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def public_key_info(certificate: bytes) -> bytes:
    """Returns the DER SubjectPublicKeyInfo of a DER certificate, which controllers and plugs pin.

    Raises ValueError.
    """
    key = x509.load_der_x509_certificate(certificate).public_key()
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


class Identity:
    """A controller's P-256 key. A controller has one key for all its plugs."""

    def __init__(self, private_key: bytes) -> None:
        """Loads a private key in PEM (PKCS 8) without a password. Raises ValueError."""
        key = serialization.load_pem_private_key(private_key, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("the key of a controller must be an elliptic-curve key")
        self._key = key

    @classmethod
    def draw(cls) -> "Identity":
        """Generates a new key."""
        key = ec.generate_private_key(ec.SECP256R1())
        return cls(key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))

    @property
    def private_key(self) -> bytes:
        """The private key in PEM (PKCS 8). Store it where other users cannot read it."""
        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    @property
    def public_key(self) -> bytes:
        """The public key as DER SubjectPublicKeyInfo."""
        return self._key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)

    def tls(self) -> ssl.SSLContext:
        """Returns a context for TLS 1.3 with this key. It accepts any plug: compare the plug's key before sending any
        data.

        Blocks for some milliseconds, because `ssl` reads keys only from files. The file is readable only by its owner,
        and is removed before this returns.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        # The certificates are self-signed; their names and dates are not used.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["smartplug/1"])
        self.load_into(context)
        return context

    def load_into(self, context: ssl.SSLContext) -> None:
        """Uses this key in the context's handshakes."""
        with self._as_file() as file:
            context.load_cert_chain(file)

    @contextlib.contextmanager
    def _as_file(self) -> Iterator[str]:
        descriptor, file = tempfile.mkstemp(suffix=".pem")  # mode 0600
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(self.private_key + self._certificate())
            yield file
        finally:
            os.unlink(file)

    def _certificate(self) -> bytes:
        """Returns a self-signed certificate with the key, because TLS requires one. Only its key is used."""
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "smartplug client")])
        return (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(datetime.datetime(2020, 1, 1)).not_valid_after(datetime.datetime(2099, 1, 1))
            .sign(self._key, hashes.SHA256())).public_bytes(serialization.Encoding.PEM)


@dataclass(frozen=True)
class PairedPlug:
    """A plug that this controller is paired with: its id, its key, and during a key rotation also the next key that it
    announced."""

    plug_id: str
    keys: tuple[bytes, ...]

    def knows(self, key: bytes) -> bool:
        """Returns True if this is a key of the plug."""
        return key in self.keys

    def announced(self, key: bytes) -> "PairedPlug":
        """Returns the plug with its announced next key."""
        return self if key in self.keys else replace(self, keys=(self.keys[0], key))

    def proved(self, key: bytes) -> "PairedPlug":
        """Returns the plug after it proved this key. If it is the next key, the previous one is removed."""
        return replace(self, keys=(key,)) if key in self.keys[1:] else self


def fingerprint(key: bytes) -> str:
    """Returns the SHA-256 of a key in 64 hexadecimal digits, as in the plug's list of controllers."""
    return hashlib.sha256(key).hexdigest()
