"""Pairing, as Protocol.md describes it."""

import base64
import hashlib
import hmac
import os
import struct

VERSION = 1


class NotThePlug(Exception):
    """Whoever answered does not know the setup code."""


def code_bytes(text):
    """Of what a person types or a file holds; a plug's own file has it twice, in two lines."""
    code = base64.b32decode("".join(text.splitlines()[0].split()).replace("-", "").upper())
    if len(code) != 10:
        raise ValueError("a setup code has 16 letters and digits")
    return code


def proofs(code, plug, plug_key, controller_key, plug_nonce, controller_nonce):
    """What the controller sends, and what the plug must answer."""
    items = [b"smartplug-pair-1", struct.pack(">I", VERSION), plug.encode(), plug_key, controller_key, plug_nonce,
             controller_nonce]
    transcript = b"".join(struct.pack(">I", len(item)) + item for item in items)
    # RFC 5869 with empty info: one block is 32 bytes.
    extracted = hmac.digest(hashlib.sha256(transcript).digest(), code, "sha256")
    key = hmac.digest(extracted, b"\x01", "sha256")
    return hmac.digest(key, b"controller", "sha256"), hmac.digest(key, b"plug", "sha256")


def pair(connection, identity, name, code):
    """Returns the plug's id; its key is pinned then."""
    nonce = os.urandom(32)
    connection.send(pairing_request={"version": VERSION, "controller": name, "nonce": nonce})
    kind, challenge = connection.receive()
    if kind != "pairing_challenge" or len(challenge.nonce) != 32:
        raise ValueError(f"{kind} came where the challenge was due")
    ours, theirs = proofs(
        code, challenge.plug_id, connection.plug_key, identity.public_key, challenge.nonce, nonce)
    connection.send(pairing_proof={"proof": ours})
    kind, answer = connection.receive()
    if kind != "pairing_proof" or not hmac.compare_digest(answer.proof, theirs):
        raise NotThePlug("whoever answered does not know the setup code")
    identity.pin(challenge.plug_id, connection.plug_key)
    return challenge.plug_id
