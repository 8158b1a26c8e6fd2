"""A paired controller that misuses key rotation; runs inside a host of the LAN and prints JSON objects.

rotation_program.py crash ADDRESS PORT KEY     announces a second key, connects with it, and sends a Hello with a name of 64 bytes
rotation_program.py loop ADDRESS PORT KEY N    announces N new keys in one session, one after the other
rotation_program.py steal ADDRESS PORT KEY     announces keys without their private keys

KEY is the file with the controller's private key (PEM).
"""

import json
import pathlib
import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from blocking import BlockingConnection
from smartplug_client.errors import Goodbye
from smartplug_client.identity import Identity


def announcement(plug_id, own, next_key, nonce):
    """Returns the transcript that AnnounceKey signs."""
    items = [b"smartplug-key-1", plug_id.encode(), own, next_key, nonce]
    return b"".join(len(item).to_bytes(4, "big") + item for item in items)


class Session:
    def __init__(self, address, port, identity):
        self.identity = identity
        self.connection = BlockingConnection(address, int(port), identity.tls())

    def greet(self, name="Tablet"):
        self.connection.send(hello={"version": 1, "controller": name})
        self.welcome = self.connection.next("welcome")
        return self

    def announce(self, next_identity, signer, pending=None):
        """Announces a key and returns the plug's answer: "accepted", or the code of a refusal."""
        text = announcement(
            self.welcome.plug_id, self.identity.public_key, next_identity.public_key, self.welcome.nonce)
        signed = {
            name: identity._key.sign(text, ec.ECDSA(hashes.SHA256()))
            for name, identity in (("signature", signer), ("pending_signature", pending)) if identity}
        self.connection.send(announce_key={"key": next_identity.public_key, **signed})
        while True:
            kind, message = self.connection.receive()
            if kind in ("key_accepted", "refused"):
                return "accepted" if kind == "key_accepted" else message.code


def crash(address, port, identity):
    first = Session(address, port, identity).greet()
    second = Identity.draw()
    answer = first.announce(second, second)
    malformed = Session(address, port, second)
    malformed.connection.send(hello={"version": 1, "controller": "n" * 64})
    try:
        malformed.connection.receive()
    except (Goodbye, EOFError) as end:
        tell(announced=answer, ended=str(end))


def loop(address, port, identity, count):
    session, pending = Session(address, port, identity).greet(), None
    answers = []
    for _ in range(int(count)):
        following = Identity.draw()
        answers.append(session.announce(following, following, pending))
        if answers[-1] == "accepted":
            pending = following
    tell(accepted=answers.count("accepted"), refused=len(answers) - answers.count("accepted"))


def steal(address, port, identity):
    session = Session(address, port, identity).greet()
    stranger = Identity.draw()
    tell(
        unsigned=session.announce(stranger, None), signed_by_other=session.announce(stranger, Identity.draw()),
        signed_by_session_key=session.announce(stranger, identity))


def tell(**told):
    print(json.dumps(told), flush=True)


command, address, port, key, *rest = sys.argv[1:]
{"crash": crash, "loop": loop, "steal": steal}[command](address, port, Identity(pathlib.Path(key).read_bytes()), *rest)
