"""This client's key, and the keys of the plugs that it was paired with."""

import datetime
import os
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def public_key_info(certificate_der):
    """The DER SubjectPublicKeyInfo of a certificate: what is pinned."""
    key = x509.load_der_x509_certificate(certificate_der).public_key()
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


class Identity:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.key_file = self.directory / "key.pem"
        self.certificate_file = self.directory / "certificate.pem"
        if not self.key_file.exists():
            self._draw()
        if not self.certificate_file.exists():
            self._certify()

    def _draw(self):
        key = ec.generate_private_key(ec.SECP256R1())
        with open(os.open(self.key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))

    def _certify(self):
        """TLS wants the key in a certificate; nothing else in it counts."""
        key = serialization.load_pem_private_key(self.key_file.read_bytes(), None)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "smartplug client")])
        certificate = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(datetime.datetime(2020, 1, 1)).not_valid_after(datetime.datetime(2099, 1, 1))
            .sign(key, hashes.SHA256()))
        self.certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    @property
    def public_key(self):
        certificate = x509.load_pem_x509_certificate(self.certificate_file.read_bytes())
        return public_key_info(certificate.public_bytes(serialization.Encoding.DER))

    def pinned(self):
        """The ids of all plugs that this client was paired with, by their keys."""
        return {file.read_bytes(): file.stem for file in self.directory.glob("*.plug")}

    def pin(self, plug, key):
        (self.directory / f"{plug}.plug").write_bytes(key)
