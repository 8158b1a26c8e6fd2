"""As much of the plug protocol (smartplug.proto) as it takes to be a controller that behaves worse, or asks faster, than plugctl."""

import functools
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import tempfile
import time

# Fields of ControllerMessage and PlugMessage.
HELLO, SUBSCRIBE, COMMAND = 1, 2, 4
WELCOME, SUBSCRIBED, EVENT, RESULT, GOODBYE = 1, 2, 4, 6, 10


def varint(value):
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(encoded + bytes([value]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def frame(number, message):
    body = field(number, message)
    return struct.pack("!I", len(body)) + body


def hello(name):
    return frame(HELLO, field(1, 1) + field(2, name.encode()))


def subscribe(after):
    return frame(SUBSCRIBE, field(1, after) + field(5, 1))


def set_relay(request, on):
    return frame(COMMAND, field(1, request) + field(3, field(1, int(on))))


def fields(message):
    """The fields of a message by their numbers; of several with one number the last."""
    found, place = {}, 0

    def number():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(message):
        key = number()
        if key & 7 == 0:
            found[key >> 3] = number()
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            length = number()
            found[key >> 3] = message[place:place + length]
            place += length
    return found


@functools.cache
def secured():
    """TLS 1.3 with the key of the test's controllers; whoever answers is taken for the plug."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["smartplug/1"])
    with tempfile.TemporaryDirectory() as directory:
        key, certificate = pathlib.Path(os.environ["XDG_STATE_HOME"], "smartplug", "key"), pathlib.Path(directory, "certificate")
        subprocess.run(
            ["openssl", "req", "-x509", "-new", "-subj", "/CN=controller", "-key", key, "-out", certificate],
            check=True, capture_output=True)
        context.load_cert_chain(certificate, key)
    return context


class Wire:
    """A connection to a plug. Messages come as (field number, fields)."""

    def __init__(self, address, port, receive_buffer=None):
        stream = socket.socket()
        if receive_buffer is not None:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        stream.settimeout(10)
        stream.connect((address, int(port)))
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = secured().wrap_socket(stream)
        self._received = bytearray()
        self._place = 0

    def send(self, *frames):
        self.socket.sendall(b"".join(frames))

    def messages(self):
        """Until the plug closes."""
        while True:
            while len(self._received) - self._place >= 4:
                begin = self._place + 4
                length = struct.unpack_from("!I", self._received, self._place)[0]
                if len(self._received) - begin < length:
                    break
                # Taken before it is handed on: who stops listening here listens on from the next.
                self._place = begin + length
                message = fields(bytes(self._received[begin:self._place]))
                yield next(((number, fields(value)) for number, value in message.items()), (0, {}))
            del self._received[:self._place]
            self._place = 0
            piece = self.socket.recv(65536)
            if not piece:
                return
            self._received += piece

    def first(self, wanted, within=10):
        """The fields of the first message with that number."""
        deadline = time.monotonic() + within
        for number, content in self.messages():
            if number == wanted:
                return content
            assert time.monotonic() < deadline, f"no message {wanted} within {within} s"
        raise AssertionError(f"the plug closed before it sent message {wanted}")

    def greet(self, name):
        self.send(hello(name))
        return self.first(WELCOME)
