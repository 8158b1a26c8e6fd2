"""A session with a plug that this client is paired with."""

import os

from . import chunks
from .connection import WrongPlug

VERSION = 1


class NoLog(Exception):
    """The plug would not answer."""


class Session:
    def __init__(self, connection, identity, name):
        plug = identity.pinned().get(connection.plug_key)
        if plug is None:
            raise WrongPlug("this client is not paired with the plug that answered")
        self.connection = connection
        connection.send(hello={"version": VERSION, "controller": name})
        self.welcome = self._next("welcome")
        if self.welcome.plug_id != plug:
            raise WrongPlug(f"it proved the key of plug {plug} and says that it is {self.welcome.plug_id}")

    def _next(self, *kinds):
        """The next message of one of these kinds; others that are on their way are passed over."""
        while True:
            kind, message = self.connection.receive()
            if kind in kinds:
                return message if len(kinds) == 1 else (kind, message)

    def subscribe(self, after=None):
        self.ask_events(after)
        return self._next("subscribed"), self._next("snapshot")

    def updates(self):
        """Events, gaps and states as they come."""
        while True:
            yield self._next("event", "state", "subscribed")

    def ask_events(self, after=None, no_state=False):
        self.connection.send(subscribe={"no_state": no_state} if after is None else {"after": after, "no_state": no_state})

    def ask_relay(self, on, request):
        """The answer comes as a result with this request id."""
        self.connection.send(command={"request_id": request, "set_relay": {"on": on}})

    def set_relay(self, on, request=None):
        request = request or os.urandom(16)
        self.ask_relay(on, request)
        return self._result(request)

    def reset_protection(self):
        request = os.urandom(16)
        self.connection.send(command={"request_id": request, "reset_protection": {}})
        return self._result(request)

    def _result(self, request):
        while True:
            result = self._next("result")
            if result.request_id == request:
                return result

    def samples(self, start, end):
        """All samples between two plug times in nanoseconds, both included. Chunks come whole, so the ends are cut here."""
        self.connection.send(fetch_samples={"fetch_id": 1, "from": start, "to": end})
        found = []
        while True:
            answer = self._next("samples")
            if answer.chunk:
                found += chunks.samples(answer.chunk)
            if answer.last:
                return [sample for sample in found if start <= sample["milliseconds"] * 1_000_000 <= end]

    def log(self, level, seconds):
        """What the plug grants, then each line of its log and how many were lost before some, until it ends."""
        if "log" not in self.welcome.capabilities:
            raise NoLog("this plug does not tell its log")
        self.connection.send(follow_log={"level": f"LOG_LEVEL_{level.upper()}", "seconds": seconds})
        while True:
            kind, message = self._next("log_answer", "log_lines")
            if kind == "log_lines":
                if message.lost:
                    yield "lost", message.lost
                for line in message.lines:
                    yield "line", line
            else:
                yield message.WhichOneof("kind"), getattr(message, message.WhichOneof("kind"))
                if not message.HasField("followed"):
                    return

    def controllers(self):
        self.connection.send(list_controllers={})
        return self._next("controllers").controllers

    def remove(self, fingerprint):
        self.connection.send(remove_controller={"fingerprint": fingerprint})
