"""The messages of the protocol, and frames.

The message classes are built from descriptors at run time, because code that protoc generates works with only one or
two major versions of protobuf, and Home Assistant decides which version is installed.
"""

import base64
import struct
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from .descriptors import DESCRIPTORS
from .errors import MalformedMessage

VERSION = 1
LONGEST_MESSAGE = 65_536
_HEAD = struct.Struct(">I")


def descriptors() -> descriptor_pb2.FileDescriptorSet:
    """Returns the descriptors of the protocol's .proto files."""
    return descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(DESCRIPTORS))


# A separate pool, because other packages in the process may have files with the same names.
_pool = descriptor_pool.DescriptorPool()
for _file in descriptors().file:
    _pool.Add(_file)


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"smartplug.v1.{name}"))


ControllerMessage: Any = _message("ControllerMessage")
PlugMessage: Any = _message("PlugMessage")


def name_of(enumeration: str, number: int) -> str | None:
    """Returns the lower-case name of an enumeration's value without its prefix; None for a value of a later version,
    and for UNSPECIFIED."""
    kind = _pool.FindEnumTypeByName(f"smartplug.v1.{enumeration}")
    value = kind.values_by_number.get(number)
    if value is None or number == 0:
        return None
    prefix = kind.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return str(value.name).removeprefix(prefix).lower()


def frame(**kind: Any) -> bytes:
    """Returns one ControllerMessage after its length in four bytes, for example frame(hello={"version": 1})."""
    message: bytes = ControllerMessage(**kind).SerializeToString()
    return _HEAD.pack(len(message)) + message


class FrameReader:
    """Splits received bytes into messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Adds received bytes."""
        self._bytes += data

    @property
    def waiting(self) -> int:
        """The number of bytes that were not read yet."""
        return len(self._bytes)

    def next(self) -> tuple[str, Any] | None:
        """Returns the kind of the next message and the message, or None until more bytes arrive. Kinds of a later
        version are skipped.

        Raises MalformedMessage.
        """
        while len(self._bytes) >= _HEAD.size:
            (length,) = _HEAD.unpack_from(self._bytes)
            if not 1 <= length <= LONGEST_MESSAGE:
                raise MalformedMessage(f"a frame announces {length} bytes; 1 to {LONGEST_MESSAGE} are allowed")
            if len(self._bytes) < _HEAD.size + length:
                return None
            body = bytes(self._bytes[_HEAD.size:_HEAD.size + length])
            del self._bytes[:_HEAD.size + length]
            try:
                message = PlugMessage.FromString(body)
            except DecodeError as error:
                raise MalformedMessage("a frame does not contain a valid message") from error
            if kind := message.WhichOneof("kind"):
                return kind, getattr(message, kind)
        return None
