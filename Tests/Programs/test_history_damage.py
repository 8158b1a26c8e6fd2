"""Tests of `plugctl history repair` on randomly damaged files: a repair ends within its limits and copies each row that
SQLite still finds by its key."""

import concurrent.futures
import os
import random
import shutil
import sqlite3
import subprocess
import threading
import zlib

import pytest

from harness.recorded_days import History

PAGE = 4096
TIME_LIMIT, MEMORY_LIMIT = 30, 100 << 20
# The numbers of cases with damaged bytes and with moved pages. `Scripts/test --full` runs 1,000 and 300.
SINGLE, MOVED = (int(number) for number in os.environ.get("SMARTPLUG_DAMAGES", "20,10").split(","))
SEED = int(os.environ.get("SMARTPLUG_SEED", "1"))

# The key columns of each table, and a query that returns these columns, followed by the content of the row without row ids.
TABLES = {
    "chunk": (["id"], """SELECT x.id, p.plug, b.boot, x.first, x.count, x.since, x.until, x.crc, x.bytes
        FROM chunk x JOIN plug p ON p.id = x.plug JOIN boot b ON b.id = x.boot"""),
    "event": (["plug", "sequence", "bytes"], """SELECT x.plug, x.sequence, x.bytes, p.plug, x.sequence, x.bytes, x.at, x.known
        FROM event x JOIN plug p ON p.id = x.plug"""),
    "firing": (["at", "rule", "plug", "cause"], "SELECT at, rule, plug, cause, at, rule, plug, cause FROM firing"),
    "trace": (["id"], "SELECT id, trace, at, rule, fired, json FROM trace"),
    "counter": (["plug", "wall", "boot"], """SELECT x.plug, x.wall, x.boot, p.plug, x.wall, b.boot, x.clock, x.milliwatt_hours
        FROM counter x JOIN plug p ON p.id = x.plug JOIN boot b ON b.id = x.boot"""),
}


def varint(number):
    rest = bytearray()
    while number >= 0x80:
        rest.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(rest) + bytes([number])


def event(boot, sequence, milliseconds):
    """A press of the button, as the history stores it."""
    content = b"\x02" + varint(sequence) + boot + varint(2 * milliseconds * 1_000_000) + b"\x06single"
    return content + zlib.crc32(content).to_bytes(4)


@pytest.fixture
def whole(programs, tmp_path):
    """A day of two plugs with events, firings, traces and counter readings, in one file."""
    history = History(programs, tmp_path)
    for name, step in (("Lamp", 1), ("Heater", 5)):
        history.holds(name, [
            f"20/11/2026 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02};{second * 7919 % 2011 / 10}"
            for second in range(0, 86_400, step)])
    path = tmp_path / "history" / "history.sqlite"
    with sqlite3.connect(path) as database:
        boots = database.execute("SELECT plug, id, boot, origin, newest FROM boot").fetchall()
        for plug, number, boot, origin, newest in boots:
            first = max(0, newest - 86_000_000)
            for index in range(400):
                clock = first + index * 200_000
                database.execute(
                    "INSERT INTO event VALUES (?, ?, ?, ?, 1)", (plug, index + 1, event(boot, index + 1, clock), origin + clock))
            for index in range(1000):
                clock = first + index * 86_000
                database.execute(
                    "INSERT INTO counter VALUES (?, ?, ?, ?, ?)", (plug, origin + clock, number, clock, 1000 * index))
        start = boots[0][3]
        for index in range(600):
            rule = f"Rule {index % 7}"
            database.execute(
                "INSERT INTO firing VALUES (?, ?, 'aaaaaaaaaaaa', ?)", (start + index * 1000, rule, f"the button, press {index}"))
            database.execute(
                "INSERT INTO trace (trace, at, rule, fired, json) VALUES (?, ?, ?, ?, ?)",
                (f"{index:032x}", start + index * 1000, rule, index % 2, '{"why":"' + "x" * (index * 37 % 900) + '"}'))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return path


def flip(data, choose):
    position, bit = choose.randrange(len(data)), choose.randrange(8)
    data[position] ^= 1 << bit
    return f"bit {bit} of byte {position % PAGE} of page {position // PAGE + 1}"


def zero(data, choose):
    page = choose.randrange(len(data) // PAGE)
    data[page * PAGE:(page + 1) * PAGE] = bytes(PAGE)
    return f"zeroed page {page + 1}"


def truncate(data, choose):
    length = choose.randrange(1, len(data))
    del data[length:]
    return f"truncated after {length} bytes"


def pages(data):
    return [data[start:start + PAGE] for start in range(0, len(data), PAGE)]


def swap(data, choose):
    all_pages = pages(data)
    one, other = choose.sample(range(len(all_pages)), 2)
    all_pages[one], all_pages[other] = all_pages[other], all_pages[one]
    data[:] = b"".join(all_pages)
    return f"swapped pages {one + 1} and {other + 1}"


def copy(data, choose):
    all_pages = pages(data)
    one, other = choose.sample(range(len(all_pages)), 2)
    all_pages[other] = all_pages[one]
    data[:] = b"".join(all_pages)
    return f"page {one + 1} copied over page {other + 1}"


def insert(data, choose):
    all_pages = pages(data)
    one, other = choose.sample(range(len(all_pages)), 2)
    all_pages.insert(other, all_pages[one])
    data[:] = b"".join(all_pages)
    return f"page {one + 1} inserted before page {other + 1}"


def rotate(data, choose):
    all_pages = pages(data)
    first, last = sorted(choose.sample(range(len(all_pages) + 1), 2))
    last = min(last, first + choose.randrange(2, 12))
    by = choose.randrange(1, max(2, last - first))
    all_pages[first:last] = all_pages[first + by:last] + all_pages[first:first + by]
    data[:] = b"".join(all_pages)
    return f"pages {first + 1} to {last} rotated by {by}"


def rows(path):
    """Returns two dictionaries of all rows, by table and key. In the first, the rows do not contain row ids, because a repair
    assigns new ones. In the second, they have all stored columns."""
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    try:
        found = {}
        for table, (key, query) in TABLES.items():
            found[table] = {row[:len(key)]: row[len(key):] for row in database.execute(query)}
        raw = {table: {} for table in TABLES}
        for table, (key, _) in TABLES.items():
            for row in database.execute(f"SELECT {', '.join(key)}, * FROM {table}"):
                raw[table][row[:len(key)]] = row[len(key):]
        return found, raw
    finally:
        database.close()


def readable(path, raw):
    """Returns, by table, the keys of the rows that SQLite still finds by their key in the damaged file, with unchanged
    content."""
    found = {table: set() for table in raw}
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    database.text_factory = lambda text: text.decode(errors="replace")
    try:
        for table, all_rows in raw.items():
            key = TABLES[table][0]
            query = f"SELECT * FROM {table} NOT INDEXED WHERE " + " AND ".join(f"{column} = ?" for column in key)
            for values, row in all_rows.items():
                try:
                    if database.execute(query, values).fetchone() == row:
                        found[table].add(values)
                except (sqlite3.DatabaseError, OverflowError):
                    pass
    finally:
        database.close()
    return found


def repair(programs, damaged, target):
    """Runs the repair. Returns its status, its output, and the greatest resident memory in bytes."""
    process = subprocess.Popen(
        [programs / "plugctl", "history", "repair", "--file", damaged, "--into", target], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "TZ": "Europe/Berlin", "LANG": "C.UTF-8"})
    timer = threading.Timer(TIME_LIMIT, process.kill)
    timer.start()
    with process.stdout:
        output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, output, usage.ru_maxrss << 10


def problem(programs, folder, data, undamaged, number, damage):
    """Damages a copy of the file and repairs it. Returns a description of the failure, or None if the repair is correct."""
    choose = random.Random(f"{SEED} {number}")
    damaged_data = bytearray(data)
    name = f"case {number}: {damage(damaged_data, choose)}"
    place = folder / str(number)
    place.mkdir()
    try:
        damaged, target = place / "history.sqlite", place / "repaired"
        damaged.write_bytes(damaged_data)
        expected = readable(damaged, undamaged[1])
        status, output, memory = repair(programs, damaged, target)
        if status < 0:
            return f"{name}: ended by signal {-status}: {output}"
        if memory > MEMORY_LIMIT:
            return f"{name}: {memory >> 20} MB of memory"
        # SQLite may leave an empty log and its index next to a file that it only reads.
        others = {file.name: file.stat().st_size for file in place.iterdir() if file not in (damaged, target)}
        if damaged.read_bytes() != damaged_data or others.get("history.sqlite-wal") or set(others) - {
                "history.sqlite-wal", "history.sqlite-shm"}:
            return f"{name}: the damaged file was changed: {others}"
        if status != 0:
            return f"{name}: status {status}: {output}" if any(expected.values()) else None
        copied = {table: set(all_rows.values()) for table, all_rows in rows(target / "history.sqlite")[0].items()}
        lost = {
            table: missing for table, keys in expected.items()
            if (missing := sum(undamaged[0][table][key] not in copied[table] for key in keys))}
        if lost:
            return f"{name}: readable rows are missing: {lost} of { {table: len(keys) for table, keys in expected.items()} }: {output}"
        return None
    finally:
        shutil.rmtree(place)


@pytest.mark.time_limit(60 + SINGLE + MOVED)
def test_a_repair_of_any_damage_ends_and_copies_each_readable_row(whole, programs, tmp_path):
    """A repair of a randomly damaged file takes at most 30 s and 100 MiB, and copies each row that SQLite finds by its key."""
    data, undamaged = whole.read_bytes(), rows(whole)
    assert [len(undamaged[0][table]) for table in ("event", "firing", "trace", "counter")] == [800, 600, 600, 2000]
    assert len(undamaged[0]["chunk"]) > 20
    singles = [[flip, flip, flip, zero, truncate][number % 5] for number in range(SINGLE)]
    moved = [[swap, copy, insert, rotate][number % 4] for number in range(MOVED)]
    damages = list(enumerate(singles + moved))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = list(filter(None, pool.map(
            lambda case: problem(programs, tmp_path, data, undamaged, *case), damages)))
    assert not problems, f"{len(problems)} of {len(damages)}:\n" + "\n".join(problems[:40])


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_exchanged_roots_of_plugs_and_restarts_cost_no_row(whole, programs, tmp_path, shift):
    """Each row keeps its plug and its boot if the root pages of the tables `plug` and `boot` and of their indexes are exchanged."""
    with sqlite3.connect(whole) as database:
        roots = [page for page, in database.execute(
            "SELECT rootpage FROM sqlite_schema WHERE tbl_name IN ('plug', 'boot') ORDER BY rootpage")]
    database.close()
    assert len(roots) == 4
    all_pages = pages(whole.read_bytes())
    moved = list(all_pages)
    for index, root in enumerate(roots):
        moved[root - 1] = all_pages[roots[(index + shift) % 4] - 1]
    before, damaged = rows(whole)[0], tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"".join(moved))
    status, output, _ = repair(programs, damaged, tmp_path / "repaired")
    assert status == 0, output
    after = rows(tmp_path / "repaired" / "history.sqlite")[0]
    for table in TABLES:
        assert sorted(after[table].values()) == sorted(before[table].values()), f"{table}: {output}"


def tables(path):
    """Returns the number of rows of each table."""
    with sqlite3.connect(path) as database:
        return {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}


@pytest.mark.parametrize("change", [
    "UPDATE grdb_migrations SET identifier = 'x' WHERE identifier = '2'", "DELETE FROM grdb_migrations", "DROP TABLE grdb_migrations",
    "DROP INDEX chunk_by_time", "DROP INDEX chunk_by_boot", "DROP INDEX event_by_time", "DROP INDEX trace_by_rule"])
def test_a_damaged_schema_costs_no_row(whole, programs, tmp_path, change):
    """A repair without an index or with a damaged list of versions copies all rows."""
    before = tables(whole)
    with sqlite3.connect(whole) as database:
        database.execute(change)
    database.close()
    status, output, _ = repair(programs, whole, tmp_path / "repaired")
    assert status == 0 and "no samples are lost" in output and "SQLite" not in output, output
    assert tables(tmp_path / "repaired" / "history.sqlite") == before


def test_a_later_version_is_named_and_leaves_nothing_behind(whole, programs, tmp_path):
    """A repair of a later version's history fails with a hint, and creates nothing."""
    with sqlite3.connect(whole) as database:
        database.execute("INSERT INTO grdb_migrations VALUES ('99')")
    database.close()
    target = tmp_path / "repaired"
    status, output, _ = repair(programs, whole, target)
    assert status == 1 and "newer version of this program" in output and "hint: use the newer version" in output, output
    assert not target.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="it mounts a small disk")
def test_a_full_target_disk_is_named_and_does_not_block_the_next_try(whole, programs, tmp_path):
    """A repair into a full disk fails with a hint and leaves nothing there, and the next repair succeeds."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c",
         'mount -t tmpfs -o size=400k disk "$1" && "$2" history repair --file "$3" --into "$1/copy"; echo "status $?"; ls -A "$1"; '
         'echo again; mount -o remount,size=64m "$1"; "$2" history repair --file "$3" --into "$1/copy"; ls -A "$1/copy"',
         "sh", disk, programs / "plugctl", whole],
        capture_output=True, text=True, timeout=60)
    first, second = done.stdout.split("again\n")
    assert "no space is left to write the history" in done.stderr and "hint: free some space" in done.stderr, done
    assert "SQLite" not in done.stderr and first == "status 1\n", done
    assert "history.sqlite" in second.splitlines() and "no samples are lost" in second, done
