"""One connection: TLS 1.3 with both keys shown, and frames on it."""

import socket
import ssl
import struct

import smartplug_pb2  # Made from smartplug.proto, with the two beside it; README.md says how.

from .identity import public_key_info

LONGEST_MESSAGE = 65_536


class Refused(Exception):
    """The plug said goodbye."""

    def __init__(self, goodbye):
        reason = smartplug_pb2.GoodbyeReason.Name(goodbye.reason).removeprefix("GOODBYE_REASON_").lower()
        super().__init__(f"{reason}: {goodbye.detail}")
        self.reason, self.detail = reason, goodbye.detail


class WrongPlug(Exception):
    """The key that was shown is not one of those that are pinned."""


def tls(identity):
    """TLS 1.3 with this client's key. Whose the other side's key is, is to be looked at afterwards."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # The certificates are self-signed and their names and dates mean nothing: the key is what counts.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["smartplug/1"])
    context.load_cert_chain(identity.certificate_file, identity.key_file)
    return context


class Connection:
    def __init__(self, host, port, identity, timeout=10, receive_buffer=None):
        """`receive_buffer`: bytes that the kernel takes ahead of this program; for one that reads slowly on purpose."""
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        stream = socket.socket(family, kind)
        if receive_buffer is not None:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        stream.settimeout(timeout)
        stream.connect(place)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = tls(identity).wrap_socket(stream)
        self.plug_key = public_key_info(self.stream.getpeercert(binary_form=True))

    def send(self, **kinds):
        message = smartplug_pb2.ControllerMessage(**kinds).SerializeToString()
        self.stream.sendall(struct.pack(">I", len(message)) + message)

    def receive(self):
        """The next message and the name of its kind. Pings are answered, messages of a later version skipped."""
        while True:
            (length,) = struct.unpack(">I", self._exactly(4))
            if not 1 <= length <= LONGEST_MESSAGE:
                raise ValueError(f"a frame announces {length} bytes")
            message = smartplug_pb2.PlugMessage.FromString(self._exactly(length))
            kind = message.WhichOneof("kind")
            if kind == "goodbye":
                raise Refused(message.goodbye)
            if kind == "ping":
                self.send(pong={"token": message.ping.token})
            elif kind:
                return kind, getattr(message, kind)

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.stream.recv(count - len(data))
            if not more:
                raise EOFError("the plug closed the connection")
            data += more
        return data

    def close(self):
        self.stream.close()
