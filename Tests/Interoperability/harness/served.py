"""A daemon with its dashboard on a host, used over its local socket and over TCP."""

import ctypes
import http.client
import json
import os
import pathlib
import queue
import socket
import threading
from urllib.parse import urlencode

from deadlines import eventually, patient, TooLate

PORT = 7580
LIBC = ctypes.CDLL(None, use_errno=True)


def socket_on(host, family=socket.AF_INET):
    """Returns a TCP socket of the host's network. A socket stays in the network namespace in which it was created."""
    made = []

    def make():
        with open(f"/proc/{host.process_id}/ns/net") as namespace:
            assert LIBC.setns(namespace.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
        made.append(socket.socket(family, socket.SOCK_STREAM))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.headers}\n{self.body[:2000]!r}"


class Served:
    """`plugctl daemon` with its dashboard; `options` are words of the command line."""

    def __init__(self, controller, folder, *options, rules=None):
        """`controller` is plugctl on a host. The daemon's state is stored in `folder` and used again after a restart."""
        self.controller, self.folder = controller, pathlib.Path(folder)
        self.options = [*(["--rules", rules] if rules else []), *options]
        self.socket = self.folder / "daemon.socket"
        self.start()

    def start(self):
        self.folder.mkdir(exist_ok=True)
        self.running = self.controller.start(
            "daemon", "--json", "--state", self.folder / "daemon", "--history", self.folder / "history", "--socket", self.socket,
            *self.options)

    def follows(self, count, within=15):
        self.running.seen_object(lambda told: told.get("plugs") == count, within, f"that it follows {count} plugs")
        eventually(self.answers, 10, lambda: f"its socket:\n{self.running.transcript()}")
        return self

    def answers(self):
        try:
            return self.ask("GET", "/health").status == 200
        except OSError:
            return False

    def kill(self):
        self.running.process.kill()
        self.running.ended(within=5)

    # Over the local socket.

    def ask(self, method, path, body=None, **query):
        connection = http.client.HTTPConnection("daemon", timeout=20)
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.sock.settimeout(20)
        connection.sock.connect(str(self.socket))
        return self._ask(connection, method, path, body, {}, query)

    def get(self, path, **query):
        answer = self.ask("GET", path, **query)
        assert answer.status == 200, answer
        return answer.json

    def plug(self, name):
        """The daemon's state of a plug, or None if the daemon does not know the plug."""
        return next((plug for plug in self.get("/api/v1/plugs") if plug["plug"] == name), None)

    def sees(self, name, state, within=15):
        return eventually(
            lambda: (found := self.plug(name)) and found["state"] == state and found, within,
            lambda: f"{name} {state}; it is {self.plug(name)}\n{self.running.transcript()}")

    # Over TCP.

    def connection(self, address="127.0.0.1", port=PORT, host=None):
        """Opens a connection from the daemon's own host, or from another one."""
        connected = socket_on(host or self.controller.host)
        connected.settimeout(20)
        connected.connect((address, port))
        return connected

    def ask_tcp(self, method, path, body=None, headers=None, **query):
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
        connection.sock = self.connection()
        return self._ask(connection, method, path, body, headers or {}, query)

    @staticmethod
    def _ask(connection, method, path, body, headers, query):
        if body is not None and not isinstance(body, bytes):
            body, headers = json.dumps(body).encode(), {"Content-Type": "application/json", **headers}
        try:
            connection.request(method, path + (f"?{urlencode(query, doseq=True)}" if query else ""), body, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()


class Stream:
    """The daemon's live stream, read by a thread: messages as (id, kind, content)."""

    def __init__(self, served, after=None):
        self.connection = http.client.HTTPConnection("daemon", timeout=60)
        self.connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.connection.sock.connect(str(served.socket))
        self.connection.request("GET", "/api/v1/stream" + (f"?after={after}" if after else ""))
        self.messages, self._arrived = [], queue.Queue()
        self.response = self.connection.getresponse()
        assert self.response.status == 200, self.response.read()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        fields = {}
        try:
            for line in self.response:
                line = line.decode().rstrip("\n")
                if not line:
                    if "data" in fields:
                        self._arrived.put((fields.get("id"), fields.get("event"), json.loads(fields["data"])))
                    fields = {}
                elif not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    fields[name] = value
        # http.client raises AttributeError if the connection is closed during a read.
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass
        self._arrived.put(None)

    def seen(self, kind, wanted=lambda told: True, within=10):
        """Waits for the next message of this kind for which `wanted` is true."""
        while True:
            try:
                message = self._arrived.get(timeout=patient(within))
            except queue.Empty:
                raise TooLate(f"no {kind} within {patient(within):g} s; there were {self.messages[-20:]}") from None
            assert message is not None, f"the stream ended; the last messages were {self.messages[-20:]}"
            self.messages.append(message)
            if message[1] == kind and wanted(message[2]):
                return message

    def close(self):
        self.connection.close()
