"""Controllers that misbehave or send faster than plugctl; runs inside a host of the LAN and prints JSON objects.

wire_program.py commands ADDRESS PORT COUNT            COUNT commands that each toggle the relay, 16 in flight
wire_program.py insist ADDRESS PORT                    sends a command 5 ms after each answer, and repeats it with the same id until the plug answers
wire_program.py stall ADDRESS PORT AFTER FILE          subscribes, and reads nothing until FILE names the last event to read
wire_program.py follow ADDRESS PORT AFTER UNTIL        reads the events after AFTER up to UNTIL
wire_program.py crowd ADDRESS PORT COUNT               COUNT concurrent sessions and one more, until it is stopped
wire_program.py trickle ADDRESS PORT                   one byte per second of an endless Hello, until the plug disconnects
"""

import json
import os
import signal
import struct
import sys
import time

from blocking import BlockingConnection, folder_of_plugctl
from smartplug_client.errors import Goodbye

context = folder_of_plugctl().identity().tls()


def tell(**told):
    print(json.dumps(told), flush=True)


def connect(address, port, **more):
    return BlockingConnection(address, int(port), context, **more)


def greet(address, port, name, **more):
    return connect(address, port, **more).greet(name)


def commands(address, port, count):
    session, count, salt = greet(address, port, "Hurry"), int(count), os.urandom(8)

    def ask(number):
        session.ask_relay(number % 2, salt + struct.pack("!Q", number))

    asked = min(16, count)
    for number in range(asked):
        ask(number)
    done = changed = 0
    while done < count:
        kind, result = session.receive()
        if kind != "result":
            continue
        assert result.HasField("done"), f"refused: {result}"
        changed += result.done.HasField("sequence")
        done += 1
        if asked < count:
            ask(asked)
            asked += 1
    tell(event="done", commands=done, changed=changed)


def insist(address, port):
    session, number, salt = None, 0, os.urandom(8)
    while True:
        number += 1
        result = None
        while result is None:
            try:
                session = session or greet(address, port, "Insistent")
                result = session.set_relay(number % 2, salt + struct.pack("!Q", number))
            except (OSError, EOFError, Goodbye):  # The plug was killed, so the command may or may not have been executed.
                session = None
                time.sleep(0.05)
        if result.done.HasField("sequence"):
            tell(seq=result.done.sequence, on=bool(number % 2))
        time.sleep(0.005)


def read_events(session, seen, until):
    """Reads the events after the number `seen` up to `until`. An event may only skip numbers that a gap has announced."""
    events = lost = 0
    while seen < until:
        try:
            kind, message = session.receive()
        except Goodbye as goodbye:
            return tell(event="goodbye", detail=goodbye.detail)
        if kind == "subscribed" and message.HasField("gap"):
            gap = message.gap
            assert getattr(gap, "from") == seen + 1, f"a gap from {getattr(gap, 'from')} after {seen}"
            lost += gap.to - seen
            seen = gap.to
        elif kind == "event":
            assert message.sequence == seen + 1, f"event {message.sequence} after {seen}"
            seen = message.sequence
            events += 1
    tell(event="read", events=events, lost=lost, last=seen)


def follow(address, port, after, until):
    session = greet(address, port, "Reader")
    session.ask_events(int(after))
    tell(event="subscribed")
    read_events(session, int(after), int(until))


def stall(address, port, after, file):
    session = greet(address, port, "Sleeper", receive_buffer=4096)
    session.ask_events(int(after))
    tell(event="subscribed")
    while not os.path.exists(file):
        time.sleep(0.1)
    with open(file, encoding="ascii") as told:
        read_events(session, int(after), int(told.read()))


def crowd(address, port, count):
    sessions = [greet(address, port, f"Guest {index}") for index in range(int(count))]
    tell(event="all in", sessions=len(sessions))
    try:
        connect(address, port).receive()
    except Goodbye as goodbye:
        tell(event="refused", detail=goodbye.detail)
    signal.pause()


def trickle(address, port):
    stream = connect(address, port, timeout=1).stream
    began = time.monotonic()
    # A frame of 63 bytes: at one byte per second it takes longer than the plug's timeout for Hello.
    for byte in struct.pack("!I", 63) + bytes([10, 61, 8, 1, 18, 57]) + bytes(57):
        try:
            stream.send(bytes([byte]))
            answer = stream.recv(1000)
        except TimeoutError:
            continue
        except OSError:
            answer = b""
        return tell(event="hung up", after=time.monotonic() - began, said=answer[4:].decode("utf-8", "replace"))
    tell(event="endured")


def main(kind, address, port, *rest):
    {"commands": commands, "insist": insist, "follow": follow, "stall": stall, "crowd": crowd, "trickle": trickle}[kind](
        address, port, *rest)


main(*sys.argv[1:])
