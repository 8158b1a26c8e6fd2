"""Blocking connections for controllers that misbehave, with the library's TLS and frames."""

import os
import pathlib
import socket
import tempfile

from keys import as_plugctl, controller_directory
from smartplug_client.commands import turn
from smartplug_client.errors import Goodbye
from smartplug_client.folder import KeyFolder
from smartplug_client.identity import public_key_info
from smartplug_client.wire import FrameReader, frame, name_of


def folder_of_plugctl():
    """Returns a new folder, in the Python client's format, with the key of this test's plugctl and the plugs that
    plugctl knows."""
    return KeyFolder(as_plugctl(pathlib.Path(tempfile.mkdtemp(dir=controller_directory()))))


class BlockingConnection:
    def __init__(self, host, port, context, timeout=10, receive_buffer=None):
        """`context` is the result of `Identity.tls`. `receive_buffer` is the size in bytes of the kernel's buffer, for
        a program that reads slowly."""
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        stream = socket.socket(family, kind)
        if receive_buffer is not None:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        stream.settimeout(timeout)
        stream.connect(place)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream, self._frames = context.wrap_socket(stream), FrameReader()
        self.plug_key = public_key_info(self.stream.getpeercert(binary_form=True))

    def send(self, **kind):
        self.stream.sendall(frame(**kind))

    def receive(self):
        """Returns the next message, after the name of its kind. Answers pings. Raises Goodbye or EOFError when the plug
        ends the session."""
        while True:
            while (found := self._frames.next()) is None:
                data = self.stream.recv(65536)
                if not data:
                    raise EOFError("the plug closed the connection")
                self._frames.feed(data)
            kind, message = found
            if kind == "goodbye":
                raise Goodbye(name_of("GoodbyeReason", message.reason), message.detail)
            if kind == "ping":
                self.send(pong={"token": message.token})
            else:
                return kind, message

    def next(self, kind):
        while True:
            came, message = self.receive()
            if came == kind:
                return message

    def greet(self, name):
        self.send(hello={"version": 1, "controller": name})
        self.next("welcome")
        return self

    def ask_events(self, after):
        self.send(subscribe={"after": after, "no_state": True})

    def ask_relay(self, on, request):
        """Sends a command; the answer is a result with this request id."""
        self.send(command=turn(bool(on)).message(request, within=5, until=1 << 60))

    def set_relay(self, on, request=None):
        request = request or os.urandom(16)
        self.ask_relay(on, request)
        while True:
            result = self.next("result")
            if result.request_id == request:
                return result

    def close(self):
        self.stream.close()
