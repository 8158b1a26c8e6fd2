"""Pairing, as specified in Protocol.md."""

import base64
import binascii
import hashlib
import hmac
import os
import re
import struct
from typing import Any

from .errors import MalformedMessage, NotThePlug
from .wire import VERSION


PLUG_ID = re.compile("[0-9a-f]{12}")


def code_bytes(text: str) -> bytes:
    """Returns the ten bytes of a setup code in text form; spaces, hyphens and case are ignored.

    Raises ValueError.
    """
    letters = "".join(text.split()).replace("-", "").upper()
    try:
        code = base64.b32decode(letters)
    except binascii.Error:
        code = b""
    if len(letters) != 16 or len(code) != 10:
        raise ValueError("a setup code has 16 characters: letters from A to Z and digits from 2 to 7")
    return code


def proofs(
        code: bytes, plug: str, plug_key: bytes, controller_key: bytes, plug_nonce: bytes, controller_nonce: bytes,
) -> tuple[bytes, bytes]:
    """Returns the proof that the controller sends, and the one that the plug must answer."""
    items = [b"smartplug-pair-1", struct.pack(">I", VERSION), plug.encode(), plug_key, controller_key, plug_nonce,
             controller_nonce]
    transcript = b"".join(struct.pack(">I", len(item)) + item for item in items)
    # RFC 5869 with empty info: one block is 32 bytes.
    extracted = hmac.digest(hashlib.sha256(transcript).digest(), code, "sha256")
    key = hmac.digest(extracted, b"\x01", "sha256")
    return hmac.digest(key, b"controller", "sha256"), hmac.digest(key, b"plug", "sha256")


class Pairing:
    """The controller's side of one pairing on one connection. Call `request`, then `answer` with the challenge, then
    `finish`."""

    def __init__(self, code: bytes, plug_key: bytes, controller_key: bytes, name: str) -> None:
        """The keys are those that TLS verified on this connection. `name` is the controller's name in the plug's list,
        at most 63 bytes."""
        self._code, self._plug_key, self._controller_key, self._name = code, plug_key, controller_key, name
        self._nonce = os.urandom(32)
        self._expected = b""
        self.plug_id = ""

    def request(self) -> dict[str, Any]:
        """Returns the first message."""
        return {"pairing_request": {"version": VERSION, "controller": self._name, "nonce": self._nonce}}

    def answer(self, kind: str, challenge: Any) -> dict[str, Any]:
        """Returns the message with this side's proof.

        Raises MalformedMessage.
        """
        if kind != "pairing_challenge" or len(challenge.nonce) != 32:
            raise MalformedMessage(f"received {kind} instead of a pairing challenge with a nonce of 32 bytes")
        if not PLUG_ID.fullmatch(challenge.plug_id):
            raise MalformedMessage("the id of the plug is not 12 hexadecimal digits")
        self.plug_id = challenge.plug_id
        ours, self._expected = proofs(
            self._code, challenge.plug_id, self._plug_key, self._controller_key, challenge.nonce, self._nonce)
        return {"pairing_proof": {"proof": ours}}

    def finish(self, kind: str, proof: Any) -> None:
        """Checks the plug's proof that it knows the code. Pin the plug's key only if this method does not raise an error.

        Raises NotThePlug.
        """
        if kind != "pairing_proof" or not self._expected or not hmac.compare_digest(proof.proof, self._expected):
            raise NotThePlug("the plug that answered does not know the setup code")
