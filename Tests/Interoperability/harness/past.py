"""Adds hours of samples to the mirror of a killed plug, before the plug is started again."""

import struct
import time
import zlib

# Kinds of the mirror's records (Firmware/Appliance/Memory/MirrorRecord.swift).
SAMPLE, SEALED_CHUNK, OPEN_CHUNK = 7, 8, 9
BLOCK = 128


# Seconds added to the plug's boot clock, so that its samples may be older than the start of the machine.
AHEAD = 10 * 24 * 3600
LONG_RUNNING = ("unshare", "--time", "--boottime", AHEAD)


def plug_milliseconds():
    """Returns the clock of a plug that was started with LONG_RUNNING, in milliseconds."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000 + AHEAD * 1000


def give_past(mirror, hours):
    """Adds one sample per second for this number of hours, up to ten seconds before now. Returns the time of the first one on the
    plug's clock, in milliseconds."""
    end = plug_milliseconds() // 1000 - 10
    seconds = range(end - round(hours * 3600), end)
    records = list(_records(mirror.read_bytes()))
    # The new records are inserted before the plug's own samples, which are newer.
    index = next((index for index, record in enumerate(records) if record[0] in (SAMPLE, SEALED_CHUNK, OPEN_CHUNK)), len(records))
    made = [bytes([SEALED_CHUNK]) + chunk([(second * 1000, second * 37 % 5000) for second in seconds[at:at + 4096]])
            for at in range(0, len(seconds), 4096)]
    mirror.write_bytes(b"".join(
        struct.pack(">II", len(record), zlib.crc32(record)) + record for record in records[:index] + made + records[index:]))
    return seconds[0] * 1000


def _records(log):
    position = 0
    while position + 8 <= len(log):
        length, = struct.unpack_from(">I", log, position)
        yield log[position + 8:position + 8 + length]
        position += 8 + length


def chunk(samples):
    """Encodes a sample chunk (Sources/Metering/SampleChunk.swift) of (milliseconds, tenths of a watt)."""
    blocks, before = [], samples[0][0]
    for at in range(0, len(samples), BLOCK):
        block = samples[at:at + BLOCK]
        times = [moment for moment, _ in block]
        steps = [moment - earlier for moment, earlier in zip(times, [before, *times])]
        before = times[-1]
        blocks.append(bytes([len(block) - 1, 0]) + _column(steps) + _column([deciwatts for _, deciwatts in block]))
    return struct.pack(">BBHqq", 0xC1, 0, len(samples), samples[0][0], samples[-1][0]) + b"".join(blocks)


def _column(values):
    """Encodes a column without a reference, a quantum or exceptions."""
    width = max(value.bit_length() for value in values)
    bits = sum(value << width * index for index, value in enumerate(values))
    return bytes([width, 0]) + bits.to_bytes((width * len(values) + 7) // 8, "little")
