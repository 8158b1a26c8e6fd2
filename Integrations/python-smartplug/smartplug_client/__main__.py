"""The command line; README.md lists its commands."""

import argparse
import asyncio
import json
import pathlib
import sys
from dataclasses import asdict
from typing import Any

from google.protobuf.json_format import MessageToDict
from zeroconf.asyncio import AsyncZeroconf

from .commands import reset_protection, turn
from .controller import Controller
from .discovery import FoundPlug, PlugBrowser
from .errors import PlugError, WrongPlug
from .folder import KeyFolder
from .followed import FollowedPlug, Update
from .identity import PairedPlug
from .model import Event
from .pairing import code_bytes
from .session import Session


def say(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def fields(message: Any) -> dict[str, Any]:
    return MessageToDict(message, preserving_proto_field_name=True)


async def browse(seconds: float) -> None:
    """Prints announced plugs for that many seconds."""
    def found(plug: FoundPlug) -> None:
        say(id=plug.plug_id, name=plug.name, addresses=plug.addresses, port=plug.port, pairing=plug.pairing)

    async with AsyncZeroconf() as zeroconf:
        browser = PlugBrowser(zeroconf.zeroconf, found)
        await asyncio.sleep(seconds)
        await browser.close()


async def watch(controller: Controller, paired: PairedPlug, after: int | None) -> None:
    """Prints all updates of a plug, at any announced address, until the program is stopped."""
    def tell(update: Update) -> None:
        told = asdict(update)
        if isinstance(update, Event):
            told["what"] = type(update.what).__name__
        print(json.dumps({"told": type(update).__name__, **told}, default=sorted), flush=True)

    def announced(found: FoundPlug) -> None:
        if found.plug_id == paired.plug_id:
            plug.located()

    async with AsyncZeroconf() as zeroconf:
        browser = PlugBrowser(zeroconf.zeroconf, announced)
        plug = FollowedPlug(controller, paired, lambda: browser.places(paired.plug_id), after=after)
        try:
            await plug.run(tell)
        finally:
            await browser.close()


async def follow(session: Session, after: int | None, count: int | None) -> None:
    subscribed, snapshot = await session.subscribe(after)
    if subscribed.HasField("gap"):
        say(event="gap", **MessageToDict(subscribed.gap))
    say(event="snapshot", **MessageToDict(snapshot.state))
    async for kind, message in session.updates():
        say(kind=kind, **fields(message))
        if kind == "event":
            session.connection.send(acknowledge={"sequence": message.sequence})
            count = count and count - 1
            if count == 0:
                return


async def in_session(session: Session, words: argparse.Namespace) -> None:
    match words.verb:
        case "follow":
            await follow(session, words.after, words.count)
        case "relay":
            request = bytes.fromhex(words.request) if words.request else None
            say(**fields(await session.command(turn(words.state == "on"), request)))
        case "reset-protection":
            say(**fields(await session.command(reset_protection())))
        case "samples":
            for sample in await session.samples(0, session.welcome.plug_time):
                say(**sample)
        case "log":
            async for kind, told in session.log(words.level, words.seconds):
                say(kind=kind, **({"count": told} if kind == "lost" else fields(told)))
        case "controllers":
            for controller in await session.controllers():
                say(**MessageToDict(controller))
        case "remove":
            for controller in await session.remove(words.fingerprint):
                say(**MessageToDict(controller))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="smartplug_client")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--identity", help="the directory with the keys of this client and its plugs")
    parser.add_argument("--name", default="Python client")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("browse").add_argument("--seconds", type=float, default=3)
    pairing = verbs.add_parser("pair")
    pairing.add_argument("--code-file", required=True)
    pairing.add_argument("--replace", action="store_true", help="store the plug's key although its id is paired with a different key")
    following = verbs.add_parser("follow")
    following.add_argument("--after", type=int)
    following.add_argument("--count", type=int)
    watching = verbs.add_parser("watch")
    watching.add_argument("plug", help="the plug's id")
    watching.add_argument("--after", type=int)
    relay = verbs.add_parser("relay")
    relay.add_argument("state", choices=["on", "off"])
    relay.add_argument("--request", help="the request's id, 32 hexadecimal digits, to repeat a request")
    verbs.add_parser("reset-protection")
    verbs.add_parser("samples")
    log = verbs.add_parser("log")
    log.add_argument("--level", default="info")
    log.add_argument("--seconds", type=int, required=True)
    verbs.add_parser("controllers")
    verbs.add_parser("remove").add_argument("fingerprint")
    words = parser.parse_args()
    needed = {"browse": (), "watch": ("identity",)}.get(words.verb, ("host", "port", "identity"))
    if missing := [f"--{name}" for name in needed if getattr(words, name) is None]:
        parser.error(f"{words.verb} needs {', '.join(missing)}")
    return words


async def main(words: argparse.Namespace) -> None:
    if words.verb == "browse":
        return await browse(words.seconds)
    folder = KeyFolder(words.identity)
    controller = await Controller.make(folder.identity(), words.name)
    if words.verb == "watch":
        paired = next((plug for plug in folder.plugs() if plug.plug_id == words.plug), None)
        if paired is None:
            raise WrongPlug(f"this client is not paired with plug {words.plug}")
        return await watch(controller, paired, words.after)
    connection = await controller.open([(words.host, words.port)])
    try:
        if words.verb == "pair":
            # The plug's own file contains the code in two equal lines.
            code = code_bytes(pathlib.Path(words.code_file).read_text().splitlines()[0])
            plug = await controller.pair(connection, code)
            folder.keep(plug, words.replace)
            return say(paired=plug.plug_id)
        paired = folder.plug_with(connection.plug_key)
        if paired is None:
            raise WrongPlug("this client is not paired with the plug that answered")
        await in_session(await Session.greet(connection, paired, words.name), words)
    finally:
        await connection.close()


if __name__ == "__main__":
    try:
        asyncio.run(main(arguments()))
    except (PlugError, OSError, EOFError, ValueError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
