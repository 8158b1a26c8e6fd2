"""A scripted DHCP server, mainly for wrong answers; runs inside a host of the LAN.

dhcp_program.py INTERFACE SCRIPT, where SCRIPT is a JSON object:
  server, address, mask, lease, options   the offer; options: hexadecimal by number
  lies                                    names of the wrong answers (LIES, ANSWER_LIES) to send before each answer, or "all"
  answer                                  honest, overloaded (most options are in the fields of file and server name),
                                          none, refusing (offers, then sends a NAK), mute (offers, then sends nothing)
Prints each message of a client as a JSON object.
"""

import dataclasses
import json
import pathlib
import socket
import sys
import time

from link_packets import (
    ACK, CLIENT, DISCOVER, EVERYBODY, KIND, LEASE, MASK, NAK, OFFER, OVERLOAD, REQUEST, REQUESTED, SERVER, DHCP, datagram, encoded,
    packed)

FOREIGN = "10.7.0.98"  # the address of a server to which no request was sent
LIED = "10.7.0.99"  # the address in wrong answers: a client with this address accepted a wrong answer


def with_options(reply, **changes):
    """Returns a copy of the reply with changed options: o51=value sets option 51, and o51=None removes it."""
    options = dict(reply.options)
    for name, value in changes.items():
        options.pop(int(name[1:]), None)
        if value is not None:
            options[int(name[1:])] = value
    return dataclasses.replace(reply, options=options)


def body_lie(change):
    """`change` maps the whole message to the bytes that are sent."""
    return lambda reply, wire: wire(reply, change(reply.body()))


def reply_lie(change):
    return lambda reply, wire: wire(change(reply))


def frame_lie(place, change):
    """Changes the byte at this position of the frame."""
    def lie(reply, wire):
        frame = bytearray(wire(reply))
        frame[place] = change(frame[place])
        return bytes(frame)

    return lie


def address_lie(address):
    return reply_lie(lambda reply: dataclasses.replace(reply, yours=address))


def long_option(body):
    """Makes the last option longer than the message."""
    return body[:-1] + bytes([43, 200, 1, 2, 3])


LIES = {
    "empty": body_lie(lambda body: b""),
    "truncated": body_lie(lambda body: body[:200]),
    "cut in the options": body_lie(lambda body: body[:246]),
    "a long option": body_lie(long_option),
    "another cookie": reply_lie(lambda reply: dataclasses.replace(reply, cookie=b"BOOT")),
    "another transaction": reply_lie(lambda reply: dataclasses.replace(reply, transaction=reply.transaction ^ 1)),
    "another client": reply_lie(lambda reply: dataclasses.replace(reply, hardware=b"\x02\0\0\0\0\x99")),
    "a request": reply_lie(lambda reply: dataclasses.replace(reply, operation=1)),
    "a wrong sum of UDP": frame_lie(40, lambda byte: byte ^ 0xFF),
    "a wrong sum of IP": frame_lie(24, lambda byte: byte ^ 0xFF),
    "a length beyond the frame": frame_lie(16, lambda byte: byte + 4),
    "no kind": reply_lie(lambda reply: with_options(reply, o53=None)),
    "no server": reply_lie(lambda reply: with_options(reply, o54=None)),
    "no lease": reply_lie(lambda reply: with_options(reply, o51=None)),
    "a lease of nothing": reply_lie(lambda reply: with_options(reply, o51=bytes(4))),
    "a short lease option": reply_lie(lambda reply: with_options(reply, o51=b"\0\x0e")),
    "no address": address_lie("0.0.0.0"),
    "everybody's address": address_lie("255.255.255.255"),
    "a multicast address": address_lie("224.0.0.251"),
    "a loopback address": address_lie("127.0.0.1"),
    "the network's address": address_lie("10.7.0.0"),
    "the broadcast address": address_lie("10.7.0.255"),
}
# Wrong answers to a REQUEST only.
ANSWER_LIES = {
    "another server": reply_lie(lambda reply: with_options(reply, o54=packed(FOREIGN))),
    "another server's refusal": reply_lie(
        lambda reply: with_options(dataclasses.replace(reply, yours="0.0.0.0"), o53=bytes([NAK]), o54=packed(FOREIGN), o51=None)),
}


class Server:
    def __init__(self, interface, script):
        self.script = script
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        self.socket.bind((interface, 0))
        self.hardware = bytes.fromhex(pathlib.Path(f"/sys/class/net/{interface}/address").read_text().strip().replace(":", ""))

    def run(self):
        print(json.dumps({"event": "ready"}), flush=True)
        while True:
            frame = self.socket.recv(4000)
            message = DHCP.read(frame)
            if message is not None and message.operation == 1:
                self.tell(message)
                self.answer(message)

    def tell(self, message):
        print(json.dumps({
            "event": message.kind, "at": time.monotonic(), "hardware": message.hardware.hex(":"), "client": message.client,
            "requested": message.address(REQUESTED), "server": message.address(SERVER), "destination": message.destination,
        }), flush=True)

    def answer(self, message):
        kind = int.from_bytes(message.options.get(KIND, b""), "big")
        if kind == DISCOVER:
            reply = self.reply(message, OFFER)
        elif kind == REQUEST and message.address(SERVER) in (None, self.script["server"]):
            reply = self.reply(message, ACK)
        else:
            return
        self.lie(message, reply, kind)
        self.be_honest(message, reply, kind)

    def lie(self, message, reply, kind):
        lies = LIES | (ANSWER_LIES if kind == REQUEST else {})
        wanted = lies if self.script.get("lies") == "all" else self.script.get("lies", [])
        for name in wanted:
            if name in lies:
                self.send(message, lambda wire: lies[name](dataclasses.replace(reply, yours=LIED), wire))

    def be_honest(self, message, reply, kind):
        match self.script.get("answer", "honest"):
            case "honest":
                self.send(message, lambda wire: wire(reply))
            case "overloaded":
                self.send(message, lambda wire: wire(overloaded(reply)))
            case "refusing":
                refusal = with_options(dataclasses.replace(reply, yours="0.0.0.0"), o53=bytes([NAK]), o51=None)
                self.send(message, lambda wire: wire(refusal if kind == REQUEST else reply))
            case "mute":
                if kind == DISCOVER:
                    self.send(message, lambda wire: wire(reply))
            case "none":
                pass

    def send(self, message, make):
        def wire(reply, body=None):
            return datagram(
                reply.body() if body is None else body, self.hardware, EVERYBODY, self.script["server"], "255.255.255.255")

        self.socket.send(make(wire))

    def reply(self, message, kind):
        options = {
            KIND: bytes([kind]), SERVER: packed(self.script["server"]), LEASE: self.script["lease"].to_bytes(4, "big"),
            MASK: packed(self.script.get("mask", "255.255.255.0"))}
        options |= {int(number): bytes.fromhex(value) for number, value in self.script.get("options", {}).items()}
        if CLIENT in message.options:  # RFC 6842
            options[CLIENT] = message.options[CLIENT]
        return DHCP(
            2, message.transaction, message.hardware, options, message.client, self.script["address"], message.flags)


def overloaded(reply):
    """Overloads the options (RFC 2132 section 9.3): kind and server stay in the options field, the mask is in the field of the server name,
    and the other options are in the field of the file."""
    stay = {number: reply.options[number] for number in (KIND, SERVER)} | {OVERLOAD: b"\x03"}
    rest = {number: value for number, value in reply.options.items() if number not in stay and number != MASK}
    return dataclasses.replace(
        reply, options=stay, file=encoded(rest) + b"\xff", server_name=encoded({MASK: reply.options[MASK]}) + b"\xff")


if __name__ == "__main__":
    Server(sys.argv[1], json.loads(sys.argv[2])).run()
