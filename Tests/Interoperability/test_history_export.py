"""The history in a real PostgreSQL: complete and without duplicates despite kills and restored backups, and the rights
of its readers."""

import json
import pathlib
import random
import time

import pytest

from deadlines import eventually
from harness.history import History
from harness.past import LONG_RUNNING, give_past
from harness.postgres import Postgres, make_cluster, settings
from harness.served import Served
from smartplug_client import chunks

ROLLUPS = ("minutes", "quarters", "hours", "days")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    return make_cluster(tmp_path_factory.mktemp("cluster") / "c")


class ToldHouse:
    """Plugs with stored samples, a daemon, and the configuration of the receivers of its history."""

    def __init__(self, lan, plug, controller, folder):
        self.lan, self.plug, self.folder = lan, plug, folder
        self.controller = controller(lan.host())
        self.configuration = folder / "configuration" / "smartplug"
        self.configuration.mkdir(parents=True, exist_ok=True)
        self.served = None
        self.plugs = []

    def writes(self, text):
        (self.configuration / "history.toml").write_text(text)

    def add(self, name, hours=0, **how):
        """Starts a plug with that many hours of samples."""
        plug = self.plug(self.lan.host(), name, as_user=LONG_RUNNING, **how)
        plug.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
        if hours:
            plug.running.process.kill()
            plug.running.ended(within=5)
            give_past(plug.state / "run" / "mirror", hours)
            plug = self.plug(plug.host, name, state=plug.state, as_user=LONG_RUNNING, **how)
            plug.running.seen(lambda line: "announced as" in line.text, 10, "the second announcement")
        self.plugs.append(plug)
        return plug

    def start(self):
        if self.served:
            self.served.start()
        else:
            self.served = Served(self.controller, self.folder / "served", "--no-dashboard")
        return self.served

    def stop(self):
        self.served.running.terminate()
        assert self.served.running.ended(within=8) == 0, self.served.running.transcript()

    def kill(self):
        """Kills the daemon, because an orderly stop would fetch the latest samples and store them after the export has ended."""
        self.served.kill()

    @property
    def history(self):
        return History(self.folder / "served" / "history")

    def says(self, words, within=20):
        return self.served.running.seen(lambda line: words in line.text, within, f'"{words}"')

    def imports(self, name, lines):
        """Imports a recording while the daemon records."""
        file = self.folder / f"{name}.csv"
        file.write_text("\n".join(lines) + "\n")
        self.controller.does("history", "import", str(file), "--plug", name, "--zone", "UTC", "--history", str(self.folder / "served" / "history"), within=60)


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    return ToldHouse(lan, plug, controller, tmp_path)


def steady(day, watts, hours):
    """Returns lines of a recording, one per ten seconds."""
    return [
        f"{day}/2026 {hour:02}:{minute:02}:{second:02};{watts + (minute * 7 + second) % 50}"
        for hour in hours for minute in range(60) for second in range(0, 60, 10)]


def local_samples(history):
    """Returns the samples of all plugs from the local history's chunks: watts by (plug, milliseconds since 1970)."""
    found = {}
    for plug, since, data in history.query(
            "SELECT plug.plug, since, bytes FROM chunk JOIN plug ON plug.id = chunk.plug ORDER BY since, until"):
        samples = chunks.samples(data)
        for sample in samples:
            found.setdefault((plug, since + sample["milliseconds"] - samples[0]["milliseconds"]), sample["activePower"])
    return found


def exported_samples(database):
    rows = database.sql(
        "SELECT plugs.plug || ' ' || (extract(epoch FROM at) * 1000)::bigint || ' ' || active_power FROM smartplug.samples "
        "JOIN smartplug.plugs ON plugs.id = samples.plug", within=60)
    found = {}
    for line in rows.splitlines():
        plug, at, power = line.split(" ")
        assert (plug, int(at)) not in found, f"{line} is a duplicate"
        found[plug, int(at)] = float(power)
    return found


def local_energy(house):
    """Returns the energy by hour from plugctl: name, start, watt-hours, and the estimated part of the watt-hours."""
    told = house.controller.does(
        "history", "--by", "hour", "--from", "2026-01-01", "--to", "2027-12-31", "--json", "--history",
        str(house.folder / "served" / "history"), within=60)
    return [(row["plug"], row["from"], row["activeEnergy"], row["estimated"]) for row in told.objects if row["activeEnergy"]]


def has_all(house, database):
    """Expects that the database has every sample, chunk, event and watt-hour of the history, without duplicates. The daemon must have
    ended. Returns the total energy in Wh."""
    here, there = local_samples(house.history), exported_samples(database)
    missing, foreign = here.keys() - there.keys(), there.keys() - here.keys()
    assert (len(missing), len(foreign)) == (0, 0), f"missing and additional samples, of {len(here)}"
    assert all(abs(here[key] - there[key]) < 1e-3 for key in here)
    local_chunks = {
        (plug, boot.hex(), first, since, count, crc, bytes(data).hex()) for plug, boot, first, since, count, crc, data in house.history.query(
            "SELECT plug.plug, boot.boot, first, since, count, crc, bytes FROM chunk JOIN plug ON plug.id = chunk.plug "
            "JOIN boot ON boot.id = chunk.boot")}
    rows = database.rows(
        "SELECT plugs.plug, encode(boot, 'hex') AS boot, first, (extract(epoch FROM since) * 1000)::bigint AS since, count, crc, "
        "encode(bytes, 'hex') AS data FROM smartplug.chunks JOIN smartplug.plugs ON plugs.id = chunks.plug")
    assert len(rows) == len(local_chunks) and {tuple(row.values()) for row in rows} == local_chunks
    local = {}
    for plug, start, energy, estimated in local_energy(house):
        local[plug, start.replace(".000Z", "").rstrip("Z")] = (energy, estimated)
    told = {
        (row["name"], row["start"]): (row["energy"], row["estimated"]) for row in database.rows(
            "SELECT name, to_char(start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS') AS start, energy, estimated "
            "FROM smartplug.power_hours WHERE energy > 0")}
    assert local and told.keys() == local.keys(), (sorted(local.keys() ^ told.keys())[:5], len(local), len(told))
    for key, values in local.items():
        assert told[key] == pytest.approx(values, abs=2e-3), key
    total = sum(energy for energy, _ in local.values())
    for query in ("SELECT sum(energy) FROM smartplug.quarters", "SELECT sum(energy) FROM smartplug.days",
                  "SELECT sum(energy) FROM smartplug.energy_days", "SELECT sum(energy) FROM smartplug.energy_house_months"):
        assert database.value(query) == pytest.approx(total, abs=0.5), query
    events = house.history.query("SELECT count(*) FROM event")[0][0]
    assert database.value("SELECT count(*) FROM smartplug.events") == events
    return total


def has_caught_up(house, database):
    last = house.history.query("SELECT last FROM feed")
    cursor = database.psql("SELECT cursor FROM smartplug.houses WHERE name = 'home'")
    return last and cursor.status == 0 and cursor.output.strip() == str(last[0][0])


def catches_up(house, database, within=40):
    """Waits until the daemon has sent everything."""
    eventually(
        lambda: has_caught_up(house, database), within,
        lambda: f"all of the history in the database:\n{house.served.running.transcript()[-3000:]}")


def is_killed_when_caught_up(house, database, within=40):
    """Kills the daemon when it has sent everything. It may store a change just before the kill; it is then started again."""
    for _ in range(6):
        catches_up(house, database, within)
        house.kill()
        if has_caught_up(house, database):
            return
        house.start()
    raise AssertionError("the daemon stored a change before each kill")


def fetched(house, hours):
    """Waits until the daemon has recorded that many hours of the plugs' samples."""
    wanted = [plug.name for plug in house.plugs]

    def looks():
        spans = dict(house.history.query(
            "SELECT plug.name, sum(count) FROM chunk JOIN plug ON plug.id = chunk.plug GROUP BY plug.name"))
        return all(spans.get(name, 0) >= hours * 3600 - 60 for name in wanted)

    eventually(looks, 40, lambda: f"the past of {wanted}:\n{house.served.running.transcript()[-3000:]}")


def test_a_database_has_what_the_history_has_and_tells_who_is_where(house, lan, cluster, tmp_path):
    """The database equals the history, contains the live states, and restricts readers to their houses."""
    database = Postgres(lan.host(), cluster, tmp_path / "postgres")
    house.writes(settings(database, labels={"city": "Köln 🏠"}))
    lamp, heater = house.add("Lamp", hours=3), house.add("Heater/+# 💡", hours=3)
    house.start().follows(2)
    house.says("receives the history")
    fetched(house, 3)
    lamp.press()
    # An import of an earlier month creates partitions and changes existing roll-ups.
    house.imports("Mixer", steady("29/03", 1000, range(0, 4)))
    live = eventually(
        lambda: (rows := database.rows("SELECT * FROM smartplug.live WHERE connected")) and len(rows) == 2 and
        any(row["relay"] for row in rows) and rows, 20, "two connected plugs, of which one is on")
    assert {row["name"] for row in live} == {"Lamp", "Heater/+# 💡"}
    assert live[0]["labels"] == {"city": "Köln 🏠"} and live[0]["house"] == "home" and live[0]["active_power"] is not None
    heater.running.process.kill()
    eventually(lambda: database.value("SELECT count(*) FROM smartplug.away WHERE name LIKE 'Heater%'") == 1, 30, "that the plug is away")
    house.imports("Mixer", steady("29/03", 2000, range(6, 9)))
    catches_up(house, database)
    house.stop()
    assert database.value("SELECT count(*) FROM smartplug.live WHERE connected") == 0
    # The recorder's last samples are sent by the next daemon.
    house.start()
    is_killed_when_caught_up(house, database)
    has_all(house, database)
    # Unchanged rows are not rewritten, and nothing is sent twice.
    before = database.value("SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_all_tables WHERE relname ~ '^(samples|minutes|chunks)'")
    house.start()
    house.says("has the complete history")
    house.stop()
    after = database.value("SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_all_tables WHERE relname ~ '^(samples|minutes|chunks)'")
    assert after - before < 2000
    # Roles of readers.
    database.sql("CREATE ROLE tenant LOGIN", "CREATE ROLE stranger LOGIN", "CREATE ROLE everywhere LOGIN",
                 "INSERT INTO smartplug.houses (name, identity) VALUES ('other', gen_random_uuid())",
                 "INSERT INTO smartplug.plugs (house, plug, name) SELECT id, '00000000ffff', 'Foreign' FROM smartplug.houses WHERE name = 'other'",
                 "INSERT INTO smartplug.samples SELECT now(), id, 1 FROM smartplug.plugs WHERE name = 'Foreign'",
                 "SELECT smartplug.admit('tenant', 'other')", "SELECT smartplug.admit('everywhere', NULL)")
    assert database.rows("SELECT name FROM smartplug.live", user="tenant") == [{"name": "Foreign"}]
    assert database.value("SELECT count(*) FROM smartplug.power", user="tenant") == 1
    assert database.value("SELECT count(*) FROM smartplug.minutes", user="tenant") == 0
    assert database.value("SELECT count(DISTINCT house) FROM smartplug.live", user="everywhere") == 2
    assert "permission denied" in database.psql("SELECT * FROM smartplug.power", user="stranger").errors
    assert "permission denied" in database.psql(f"TABLE {database.part('samples')}", user="tenant").errors
    assert "permission denied" in database.psql("DELETE FROM smartplug.samples", user="tenant").errors
    # Old partitions of the samples are dropped by month. The minutes have no retention time, so they stay.
    database.sql("INSERT INTO smartplug.retention VALUES ('samples', '60 days')", "SELECT smartplug.forget()")
    assert database.value("SELECT count(*) FROM smartplug.samples WHERE at < '2026-09-01'") == 0
    assert database.value("SELECT count(*) FROM smartplug.minutes WHERE start < '2026-09-01'") > 0


@pytest.mark.time_limit(150)
def test_whoever_is_killed_each_sample_is_there_once(house, lan, cluster, tmp_path):
    """Daemon and database are killed at random times; each sample is in the database exactly once."""
    database = Postgres(lan.host(), cluster, tmp_path / "postgres")
    house.writes(settings(database))
    house.add("Lamp", hours=8), house.add("Heater", hours=8)
    chance = random.Random(7)
    for number in range(6):
        house.start()
        time.sleep(chance.choice([0.3, 0.8, 1.5, 2.5]))
        if number % 2:
            database.kill()
            time.sleep(chance.choice([0, 0.5]))
            if chance.random() < 0.5:
                house.served.kill()
                database.start()
                continue
            database.start()
            time.sleep(chance.choice([0.5, 2]))
        house.served.kill()
    house.start().follows(2)
    fetched(house, 8)
    house.plugs[0].press()
    time.sleep(1)
    is_killed_when_caught_up(house, database, 60)
    has_all(house, database)


@pytest.mark.time_limit(150)
def test_a_database_that_was_away_or_comes_back_older_is_caught_up(house, lan, cluster, tmp_path):
    """A database that was unreachable, or was restored from a backup, gets all missing data."""
    database = Postgres(lan.host(), cluster, tmp_path / "postgres")
    house.writes(settings(database))
    house.add("Lamp", hours=2)
    house.start().follows(1)
    fetched(house, 2)
    catches_up(house, database)
    database.stop()
    database.keep("older")
    database.start()
    house.imports("Mixer", steady("29/03", 1000, range(0, 3)))
    catches_up(house, database)
    database.stop()
    house.says("does not receive the history")
    # A day of samples is imported, then the database is restored from an earlier backup.
    house.imports("Mixer", steady("30/03", 500, range(0, 24)))
    house.plugs[0].press()
    database.put_back("older")
    database.start()
    is_killed_when_caught_up(house, database)
    total = has_all(house, database)
    assert total > 12_000
    # With its directory the daemon continues on another host; with a different directory but the same house name it is
    # refused.
    served = house.folder / "served"
    moved = house.folder / "moved"
    moved.mkdir()
    for name in ("daemon", "history"):
        (served / name).rename(moved / name)
    house.start().follows(1)
    house.says("the house home belongs to a different daemon in this database")
    house.stop()
    assert database.value("SELECT count(*) FROM smartplug.houses") == 1
    for name in ("daemon", "history"):
        command_remove(served / name)
        (moved / name).rename(served / name)
    house.imports("Mixer", steady("31/03", 700, range(0, 2)))
    house.start().follows(1)
    is_killed_when_caught_up(house, database)
    has_all(house, database)


def command_remove(folder):
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    folder.rmdir()


def test_a_full_disk_and_a_wrong_password_are_told_and_cost_nothing(house, lan, cluster, tmp_path):
    """A full disk and a wrong password are logged without the password, and no data is lost."""
    database = Postgres(lan.host(), cluster, tmp_path / "postgres", size=180, max_wal_size="32MB", min_wal_size="32MB")
    secret = house.configuration / "database-password"
    secret.write_text("wrong horse\n")
    secret.chmod(0o600)
    database.sql("CREATE ROLE house LOGIN PASSWORD 'right horse'", "GRANT smartplug TO house", "GRANT CREATE ON DATABASE smartplug TO house")
    database.allow("local all all trust", "host all all all scram-sha-256")
    database.sql("SELECT pg_reload_conf()")
    house.writes(settings(database, user="house", password_file="database-password"))
    house.add("Lamp", hours=10)
    house.start().follows(1)
    fetched(house, 10)
    told = house.says("password authentication failed")
    assert "horse" not in told.text
    house.stop()
    secret.write_text("right horse\n")
    filler = "/run/postgresql/filler"
    free = int(database.host.run("df", "--output=avail", "-k", "/run/postgresql").splitlines()[-1])
    database.host.run("fallocate", "-l", f"{free - 3000}K", filler)
    house.start().follows(1)
    house.says("does not receive the history")
    eventually(lambda: not database.running.is_running or database.answers(), 20, "the database")
    database.host.run("rm", filler)
    if not database.running.is_running:
        database.start()
    is_killed_when_caught_up(house, database, 60)
    has_all(house, database)
    assert "horse" not in house.served.running.transcript()
