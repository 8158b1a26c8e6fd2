"""Controllers that behave worse, or ask faster, than plugctl; runs inside a host of the LAN and prints JSON objects.

wire_program.py commands ADDRESS PORT COUNT            COUNT commands that each turn the relay over, 16 in flight
wire_program.py insist ADDRESS PORT                    a command every 5 ms; each is sent with its id until it is answered
wire_program.py stall ADDRESS PORT AFTER FILE          subscribes, and reads nothing until FILE says up to which event
wire_program.py follow ADDRESS PORT AFTER UNTIL        reads the events after AFTER until one is UNTIL
wire_program.py crowd ADDRESS PORT COUNT               COUNT sessions at once and one more, until it is stopped
wire_program.py trickle ADDRESS PORT                   a byte a second of a Hello that never ends, until it is hung up
"""

import json
import os
import signal
import struct
import sys
import time

from wire import EVENT, GOODBYE, RESULT, SUBSCRIBED, Wire, fields, set_relay, subscribe


def tell(**told):
    print(json.dumps(told), flush=True)


def commands(address, port, count):
    wire, count = Wire(address, port), int(count)
    wire.greet("Hurry")
    salt = os.urandom(8)
    requests = [set_relay(salt + struct.pack("!Q", number), number % 2) for number in range(count)]
    wire.send(*requests[:16])
    asked, done, changed = 16, 0, 0
    for number, content in wire.messages():
        if number != RESULT:
            continue
        assert 2 in content, f"refused: {content}"
        changed += 2 in fields(content[2])
        done += 1
        if asked < count:
            wire.send(requests[asked])
            asked += 1
        if done == count:
            break
    tell(event="done", commands=done, changed=changed)


def insist(address, port):
    wire, number, salt = None, 0, os.urandom(8)
    while True:
        number += 1
        answer = None
        while answer is None:
            try:
                if wire is None:
                    wire = Wire(address, port)
                    wire.greet("Insistent")
                wire.send(set_relay(salt + struct.pack("!Q", number), number % 2))
                answer = wire.first(RESULT)
            except (OSError, AssertionError):  # It was killed: what was asked may have been done or not.
                wire = None
                time.sleep(0.05)
        done = fields(answer[2])
        if 2 in done:
            tell(seq=done[2], on=bool(number % 2))
        time.sleep(0.005)


def read_events(wire, seen, until):
    """Follows the numbers from `seen` on: each is the next, or a gap tells where it goes on."""
    events = lost = 0
    for number, content in wire.messages():
        if number == SUBSCRIBED and 2 in content:
            gap = fields(content[2])
            assert gap[1] == seen + 1, f"a gap from {gap[1]} after {seen}"
            lost += gap[2] - seen
            seen = gap[2]
        elif number == EVENT:
            assert content[1] == seen + 1, f"event {content[1]} after {seen}"
            seen = content[1]
            events += 1
        elif number == GOODBYE:
            return tell(event="goodbye", detail=content[2].decode())
        if seen >= until:
            break
    tell(event="read", events=events, lost=lost, last=seen)


def follow(address, port, after, until):
    wire = Wire(address, port)
    wire.greet("Reader")
    wire.send(subscribe(int(after)))
    tell(event="subscribed")
    read_events(wire, int(after), int(until))


def stall(address, port, after, file):
    wire = Wire(address, port, receive_buffer=4096)
    wire.greet("Sleeper")
    wire.send(subscribe(int(after)))
    tell(event="subscribed")
    while not os.path.exists(file):
        time.sleep(0.1)
    with open(file, encoding="ascii") as told:
        read_events(wire, int(after), int(told.read()))


def crowd(address, port, count):
    wires = []
    for index in range(int(count)):
        wires.append(Wire(address, port))
        wires[-1].greet(f"Guest {index}")
    tell(event="all in")
    one_more = Wire(address, port)
    tell(event="refused", detail=one_more.first(GOODBYE)[2].decode())
    signal.pause()


def trickle(address, port):
    wire = Wire(address, port)
    began = time.monotonic()
    # A frame of 63 bytes: at a byte a second it would take longer than the plug waits for Hello.
    for byte in struct.pack("!I", 63) + bytes([10, 61, 8, 1, 18, 57]) + bytes(57):
        wire.socket.settimeout(1)
        try:
            wire.socket.send(bytes([byte]))
            answer = wire.socket.recv(1000)
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
