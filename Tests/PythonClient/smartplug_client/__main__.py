"""The command line; README.md shows it."""

import argparse
import json
import pathlib
import sys

from google.protobuf.json_format import MessageToDict

from . import pairing
from .connection import Connection, Refused, WrongPlug
from .identity import Identity
from .session import NoLog, Session


def say(**fields):
    print(json.dumps(fields), flush=True)


def follow(session, after, count):
    subscribed, snapshot = session.subscribe(after)
    if subscribed.HasField("gap"):
        say(event="gap", **MessageToDict(subscribed.gap))
    say(event="snapshot", **MessageToDict(snapshot.state))
    for kind, message in session.updates():
        say(kind=kind, **MessageToDict(message, preserving_proto_field_name=True))
        if kind == "event":
            session.connection.send(acknowledge={"sequence": message.sequence})
            count = count and count - 1
            if count == 0:
                return


def main():
    parser = argparse.ArgumentParser(prog="smartplug_client")
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--identity", required=True)
    parser.add_argument("--name", default="Python client")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("pair").add_argument("--code-file", required=True)
    following = verbs.add_parser("follow")
    following.add_argument("--after", type=int)
    following.add_argument("--count", type=int)
    relay = verbs.add_parser("relay")
    relay.add_argument("state", choices=["on", "off"])
    relay.add_argument("--request", help="its id, 32 hexadecimal digits, to repeat a request")
    verbs.add_parser("reset-protection")
    verbs.add_parser("samples")
    log = verbs.add_parser("log")
    log.add_argument("--level", default="info")
    log.add_argument("--seconds", type=int, required=True)
    verbs.add_parser("controllers")
    verbs.add_parser("remove").add_argument("fingerprint")
    words = parser.parse_args()

    identity = Identity(words.identity)
    connection = Connection(words.host, words.port, identity)
    if words.verb == "pair":
        code = pairing.code_bytes(pathlib.Path(words.code_file).read_text())
        return say(paired=pairing.pair(connection, identity, words.name, code))
    session = Session(connection, identity, words.name)
    if words.verb == "follow":
        follow(session, words.after, words.count)
    elif words.verb == "relay":
        request = bytes.fromhex(words.request) if words.request else None
        say(**MessageToDict(session.set_relay(words.state == "on", request), preserving_proto_field_name=True))
    elif words.verb == "reset-protection":
        say(**MessageToDict(session.reset_protection(), preserving_proto_field_name=True))
    elif words.verb == "samples":
        for sample in session.samples(0, session.welcome.plug_time):
            say(**sample)
    elif words.verb == "log":
        for kind, told in session.log(words.level, words.seconds):
            say(kind=kind, **({"count": told} if kind == "lost" else MessageToDict(told, preserving_proto_field_name=True)))
    elif words.verb == "controllers":
        for controller in session.controllers():
            say(**MessageToDict(controller))
    elif words.verb == "remove":
        session.remove(words.fingerprint)
        for controller in session.controllers():
            say(**MessageToDict(controller))


if __name__ == "__main__":
    try:
        main()
    except (Refused, WrongPlug, NoLog, pairing.NotThePlug, OSError, EOFError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
