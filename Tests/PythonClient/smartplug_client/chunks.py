"""The sample chunk: a run of samples in few bytes, as Protocol.md describes it."""

import struct


class _Reader:
    def __init__(self, data):
        self.data, self.position = data, 0

    def byte(self):
        self.position += 1
        return self.data[self.position - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 if value % 2 == 0 else -(value >> 1) - 1

    def column(self, count):
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


def samples(chunk):
    """Milliseconds of the plug's clock, and W, V and A where the meter has them."""
    form, count, first, last = struct.unpack_from(">B x H q q", chunk)
    if form != 0xC1:
        raise ValueError(f"unknown format {form:#x}")
    reader, found, time = _Reader(chunk), [], first
    reader.position = 20
    while len(found) < count:
        length, columns = reader.byte() + 1, reader.byte()
        steps, watts = reader.column(length), reader.column(length)
        volts = reader.column(length) if columns & 1 else [None] * length
        amperes = reader.column(length) if columns & 2 else [None] * length
        for step, power, voltage, current in zip(steps, watts, volts, amperes):
            time += step
            found.append({
                "milliseconds": time, "activePower": power / 10,
                **({} if voltage is None else {"voltageRMS": voltage / 10}),
                **({} if current is None else {"currentRMS": current / 1000})})
    if time != last or reader.position != len(chunk):
        raise ValueError("the chunk does not end where its head says")
    return found
