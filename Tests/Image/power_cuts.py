"""The writes of an emulated machine to its medium, and the medium as a power cut leaves it."""

import contextlib
import dataclasses
import os
import struct
import subprocess

SECTOR = 512
FLUSH, DISCARD = 1, 4


@dataclasses.dataclass
class Write:
    """A write of `size` bytes at `start`, whose bytes are in the log at `data`. A flush has no bytes."""

    start: int
    size: int
    data: int
    is_flush: bool


class WriteLog:
    """The log of QEMU's driver blklogwrites, which has the format of the kernel's dm-log-writes: a sector with the number of entries, and
    for each entry a sector with its place and its bytes."""

    def __init__(self, medium, work):
        """Copies the file `medium` to the folder `work`, as it is before the writes."""
        self.before, self._file = work / "before", work / "writes"
        subprocess.run(["cp", "--sparse=always", medium, self.before], check=True)
        self._file.touch()
        # The words of QEMU's option -drive.
        self.drive = (f"driver=blklogwrites,file.driver=file,file.filename={medium},log.driver=file,log.filename={self._file},"
                      f"log-sector-size={SECTOR},log-super-update-interval=1")

    def writes(self):
        """Returns all writes and flushes in their order."""
        found, position = [], SECTOR
        with self._file.open("rb") as log:
            _, _, count = struct.unpack("<QQQ", log.read(24))
            for _ in range(count):
                log.seek(position)
                sector, sectors, flags, _ = struct.unpack("<QQQQ", log.read(32))
                position += SECTOR
                size = 0 if flags & DISCARD else sectors * SECTOR
                found.append(Write(sector * SECTOR, size, position, bool(flags & FLUSH)))
                position += size
        return found

    def bytes(self, write, start=0, size=None):
        with self._file.open("rb") as log:
            log.seek(write.data + start)
            return log.read(write.size if size is None else size)


class PowerCuts:
    """A copy of the medium that a cut may leave after any number of writes. Call `after` with numbers that do not decrease."""

    def __init__(self, log, file):
        self.file, self.writes = file, log.writes()
        self._log, self._durable = log, 0
        subprocess.run(["cp", "--sparse=always", log.before, file], check=True)

    @contextlib.contextmanager
    def after(self, count, keeps=lambda: True):
        """Changes the copy, until the context ends, to what a cut after `count` writes leaves: all writes before the last flush, and those
        sectors of later writes for which `keeps` returns true, because a medium may write these in any order."""
        flush = max((index for index in range(self._durable, count) if self.writes[index].is_flush), default=self._durable)
        with self.file.open("r+b") as medium:
            for write in self.writes[self._durable:flush]:
                medium.seek(write.start)
                medium.write(self._log.bytes(write))
            self._durable = flush
            previous = []
            for write in self.writes[flush:count]:
                for start in range(0, write.size, SECTOR):
                    if keeps():
                        medium.seek(write.start + start)
                        previous.append((write.start + start, medium.read(SECTOR)))
                        medium.seek(write.start + start)
                        medium.write(self._log.bytes(write, start, SECTOR))
        yield self.file
        with self.file.open("r+b") as medium:
            for start, content in reversed(previous):
                medium.seek(start)
                medium.write(content)


def part(file, place, copy):
    """Copies a partition of the file, whose first byte and size are `place`, to the file `copy`."""
    start, size = place
    subprocess.run(
        ["dd", f"if={file}", f"of={copy}", "bs=1M", "iflag=skip_bytes,count_bytes", f"skip={start}", f"count={size}", "conv=sparse",
         "status=none"], check=True)
    os.truncate(copy, size)
    return copy
