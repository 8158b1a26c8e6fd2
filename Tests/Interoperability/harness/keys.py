"""Writes keys and pairings in the files of the programs, because in most tests all plugs and controllers are paired from
the start."""

import os
import pathlib
import secrets

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec


def controller_directory(memory=None):
    """Returns the directory of plugctl's key and paired plugs. `memory` is the XDG_STATE_HOME
    to use instead of the test's own, such as that of one of the parallel cases of together.py."""
    return pathlib.Path(memory or os.environ["XDG_STATE_HOME"], "smartplug")


def key_in(file):
    """Returns the SubjectPublicKeyInfo of the key in the file; creates the key if the file is missing."""
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
    """Makes the state directory of a plug that knows this controller; returns the plug's id and key."""
    plug = secrets.token_hex(6)
    write(state / "id", twice(plug))
    write(state / "sequence", twice("1"))
    write(state / "controllers", twice(f"{controller_key.hex()} tests"))
    return plug, key_in(state / "key")


def introduce(state, name, memory=None):
    """Writes the plug's state directory and adds the plug to the controller's list, as if both had been paired before the plug's first
    start. Does nothing if the plug has a key."""
    if (state / "key").exists():
        return
    plug, plug_key = make_paired(state, key_in(controller_directory(memory) / "key"))
    known = controller_directory(memory) / "plugs"
    lines = known.read_bytes() if known.exists() else b""
    write(known, lines + f"{plug} {plug_key.hex()} {name}\n".encode())


def as_plugctl(directory):
    """Copies the key of this test's plugctl and its plugs into this directory of the Python client."""
    write(directory / "key.pem", (controller_directory() / "key").read_bytes())
    for line in (controller_directory() / "plugs").read_text().splitlines():
        plug, key, _ = line.split(" ", 2)
        write(directory / f"{plug}.plug", bytes.fromhex(key))
    return directory
