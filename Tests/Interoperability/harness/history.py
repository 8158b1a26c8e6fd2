"""The content of a history, read while the daemon writes it."""

import pathlib
import sqlite3

from smartplug_client import chunks


class History:
    def __init__(self, directory):
        self.file = pathlib.Path(directory) / "history.sqlite"

    def query(self, statement, *values):
        """Returns the rows, or an empty list while the history or a table is missing."""
        if not self.file.exists():
            return []
        database = sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=10)
        try:
            return database.execute(statement, values).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise
        finally:
            database.close()

    def samples(self, name):
        """Returns the plug's samples: watts by the time on the plug's clock in milliseconds. All samples are of one boot,
        because the test machine is not restarted."""
        found = {}
        for data, in self.query(
                "SELECT bytes FROM chunk JOIN plug ON plug.id = chunk.plug WHERE plug.name = ? ORDER BY first", name):
            found |= {sample["milliseconds"]: sample["activePower"] for sample in chunks.samples(data)}
        return found

    def starts(self, name):
        """Returns the time of the first sample of each chunk of the plug, in milliseconds of the plug's clock and in the
        order of storage."""
        return [first for first, in self.query(
            "SELECT first FROM chunk JOIN plug ON plug.id = chunk.plug WHERE plug.name = ? ORDER BY chunk.id", name)]

    def wall_times(self, name):
        """The start of each of the plug's chunks, in milliseconds since 1970."""
        return [since for since, in self.query(
            "SELECT since FROM chunk JOIN plug ON plug.id = chunk.plug WHERE plug.name = ? ORDER BY since", name)]

    def events(self, name):
        """The numbers of the plug's events, in order."""
        return [sequence for sequence, in self.query(
            "SELECT sequence FROM event JOIN plug ON plug.id = event.plug WHERE plug.name = ? ORDER BY sequence", name)]

    def firings(self):
        return self.query("SELECT rule, cause FROM firing ORDER BY at")

    def is_sound(self):
        return self.query("PRAGMA integrity_check") == [("ok",)]
