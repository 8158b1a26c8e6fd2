"""Sample chunks: many samples in few bytes, as specified in Protocol.md."""

import struct
from collections.abc import Sequence

Sample = dict[str, float]
MOST_SAMPLES = 4096
LONGEST_VARINT = 70  # bits


class _Reader:
    def __init__(self, data: bytes, position: int) -> None:
        self.data, self.position = data, position

    def byte(self) -> int:
        self.position += 1
        return self.data[self.position - 1]

    def varint(self) -> int:
        value = 0
        for shift in range(0, LONGEST_VARINT, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("unterminated integer")

    def zigzag(self) -> int:
        value = self.varint()
        return value >> 1 if value % 2 == 0 else -(value >> 1) - 1

    def column(self, count: int) -> list[int]:
        head = self.byte()
        width = head & 0x3F
        reference = self.zigzag()
        quantum = self.varint() if head & 0x40 else 1
        size = (count * width + 7) // 8
        bits = int.from_bytes(self.data[self.position:self.position + size], "little")
        self.position += size
        multiples = [bits >> (index * width) & ((1 << width) - 1) for index in range(count)]
        if head & 0x80:
            for _ in range(self.byte()):
                index = self.byte()
                multiples[index] |= self.varint() << width
        return [reference + quantum * multiple for multiple in multiples]


def samples(chunk: bytes) -> list[Sample]:
    """Returns the samples of a chunk: the time on the plug's clock in milliseconds, the power in W, and the voltage in
    V and the current in A if the meter measures them. Raises ValueError."""
    try:
        return _samples(chunk)
    except (IndexError, struct.error) as error:
        raise ValueError("the chunk is cut off") from error


def _samples(chunk: bytes) -> list[Sample]:
    form, count, first, last = struct.unpack_from(">B x H q q", chunk)
    if form != 0xC1:
        raise ValueError(f"unknown format of a chunk: {form:#x}")
    if not 1 <= count <= MOST_SAMPLES:
        raise ValueError(f"a chunk has {count} samples; 1 to {MOST_SAMPLES} are allowed")
    reader, time = _Reader(chunk, position=20), first
    found: list[Sample] = []
    while len(found) < count:
        length, columns = reader.byte() + 1, reader.byte()
        steps, watts = reader.column(length), reader.column(length)
        absent: Sequence[int | None] = [None] * length
        volts = reader.column(length) if columns & 1 else absent
        amperes = reader.column(length) if columns & 2 else absent
        for step, power, voltage, current in zip(steps, watts, volts, amperes):
            time += step
            sample: Sample = {"milliseconds": time, "activePower": power / 10}
            if voltage is not None:
                sample["voltageRMS"] = voltage / 10
            if current is not None:
                sample["currentRMS"] = current / 1000
            found.append(sample)
    if time != last or reader.position != len(chunk):
        raise ValueError("the chunk's length differs from its header")
    return found
