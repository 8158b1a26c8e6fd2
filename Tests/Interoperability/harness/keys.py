"""Keys, and who knows whom, written as the programs keep them: most tests begin with everybody paired."""

import os
import pathlib
import secrets

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec


def controller_directory(memory=None):
    """Where plugctl keeps its key and the plugs that it knows, in this test, or in a case of it that has a memory of its own."""
    return pathlib.Path(memory or os.environ["XDG_STATE_HOME"], "smartplug")


def key_in(file):
    """The SubjectPublicKeyInfo of the key in the file, which is drawn where there is none."""
    if file.exists():
        key = serialization.load_pem_private_key(file.read_bytes(), None)
    else:
        key = ec.generate_private_key(ec.SECP256R1())
        write(file, key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def write(file, content):
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
        opened.write(content)


def twice(line):
    return f"{line}\n{line}\n".encode()


def make_paired(state, controller_key):
    """The state directory of a plug that knows this controller; the plug's id and key."""
    plug = secrets.token_hex(6)
    write(state / "id", twice(plug))
    write(state / "sequence", twice("1"))
    write(state / "controllers", twice(f"{controller_key.hex()} tests"))
    return plug, key_in(state / "key")


def introduce(state, name, memory=None):
    """Makes the state directory of a plug that was paired with this test's controller before it was started first."""
    if (state / "key").exists():
        return
    plug, plug_key = make_paired(state, key_in(controller_directory(memory) / "key"))
    known = controller_directory(memory) / "plugs"
    lines = known.read_bytes() if known.exists() else b""
    write(known, lines + f"{plug} {plug_key.hex()} {name}\n".encode())


def as_plugctl(directory):
    """Gives the Python client, in this directory, the key of this test's plugctl and the plugs that it knows."""
    write(directory / "key.pem", (controller_directory() / "key").read_bytes())
    for line in (controller_directory() / "plugs").read_text().splitlines():
        plug, key, _ = line.split(" ", 2)
        write(directory / f"{plug}.plug", bytes.fromhex(key))
    return directory
