"""A real PostgreSQL on a host, run by a user without privileges, with its data in the test's folder."""

import json
import os
import pathlib
import pwd
import shutil
import signal
import time

from deadlines import eventually
from harness.lan import command

PROGRAMS = pathlib.Path(os.environ.get("SMARTPLUG_POSTGRESQL", "/usr/lib/postgresql/15/bin"))
# TimescaleDB is in Debian 13, but not in 12. With it, the tables of the history become hypertables.
HAS_TIMESCALE = (PROGRAMS.parent / "lib/timescaledb.so").exists()
PORT = 5432
USER = pwd.getpwnam("postgres")


def make_cluster(folder):
    """Makes an empty cluster, which tests copy."""
    folder.mkdir()
    os.chown(folder, USER.pw_uid, USER.pw_gid)
    # The user postgres cannot enter the test's folder, so the folder is also mounted at /run/p.
    command(
        "unshare", "--mount", "--propagation", "private", "sh", "-ec",
        f'mount -t tmpfs tmpfs /run && mkdir /run/p && mount --bind "$1" /run/p && cd / && exec setpriv --reuid postgres --regid postgres '
        f'--clear-groups {PROGRAMS}/initdb --no-sync --auth trust --username smartplug --encoding UTF8 --locale C.UTF-8 /run/p/data', "sh",
        folder)
    return folder


class Postgres:
    """A PostgreSQL server. `settings` are settings of postgresql.conf, by name."""

    def __init__(self, host, cluster, folder, size=None, **settings):
        """With `size`, the data is on a separate disk of that many megabytes."""
        self.host, self.folder = host, pathlib.Path(folder)
        self.folder.mkdir()
        host.run("mkdir", "/run/postgresql")
        if size:
            host.run("mount", "-t", "tmpfs", "-o", f"size={size}m,mode=755", "tmpfs", "/run/postgresql")
            host.run("cp", "-a", cluster / "data", "/run/postgresql/data")
            host.run("chown", "postgres", "/run/postgresql")
        else:
            shutil.copytree(cluster, self.folder, dirs_exist_ok=True, copy_function=shutil.copy)
            command("chown", "-R", "postgres:postgres", self.folder)
            host.run("mount", "--bind", self.folder, "/run/postgresql")
        # Tests kill only the processes of PostgreSQL, never the machine, so written data survives without fsync.
        self.settings = {"fsync": "off", "max_connections": 30, "listen_addresses": "*", "port": PORT,
                         "unix_socket_directories": "/run/postgresql", "shared_buffers": "32MB", **settings}
        if HAS_TIMESCALE:
            self.settings |= {"shared_preload_libraries": "timescaledb", "timescaledb.telemetry_level": "off"}
        self.allow("host all all all trust", "local all all trust")
        self.start()
        self.sql("CREATE DATABASE smartplug", database="postgres")
        if HAS_TIMESCALE:
            self.sql("CREATE EXTENSION timescaledb")

    @property
    def data(self):
        return pathlib.Path("/run/postgresql/data")

    def allow(self, *lines):
        self.host.run("sh", "-c", f'printf "%s\\n" "$@" > {self.data}/pg_hba.conf', "sh", *lines)

    def start(self):
        words = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        self.running = self.host.start(
            "setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "env", "-C", "/", PROGRAMS / "postgres", "-D",
            self.data, *words, name="postgres")
        eventually(self.answers, 30, lambda: f"PostgreSQL:\n{self.running.transcript()[-3000:]}")

    def answers(self):
        return self.psql("SELECT 1", database="postgres").status == 0

    def psql(self, *statements, database="smartplug", user="smartplug", within=30):
        words = [word for statement in statements for word in ("-c", statement)]
        return self.host.finish(
            PROGRAMS / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "/run/postgresql", "-p", PORT, "-U", user, "-d",
            database, *words, within=within)

    def sql(self, *statements, **how):
        """Runs the statements and returns the output of the last one."""
        done = self.psql(*statements, **how)
        assert done.status == 0, done
        return done.output

    def rows(self, query, **how):
        """Returns the rows of the query as objects."""
        return json.loads(self.sql(f"SELECT coalesce(json_agg(r), '[]') FROM ({query}) r", **how))

    def value(self, query, **how):
        rows = self.rows(query, **how)
        return next(iter(rows[0].values())) if rows else None

    def part(self, relation):
        """Returns the name of a table with rows of a few weeks: a partition, or a chunk of a hypertable."""
        if HAS_TIMESCALE:
            return self.value(
                "SELECT format('%I.%I', chunk_schema, chunk_name) FROM timescaledb_information.chunks "
                f"WHERE hypertable_name = '{relation}' LIMIT 1")
        return self.value(
            "SELECT format('smartplug.%I', relname) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
            f"WHERE inhparent = 'smartplug.{relation}'::regclass AND relname !~ '_other$' LIMIT 1")

    def kill(self):
        """Kills all processes of PostgreSQL at once."""
        master = self.running.process.pid
        children = pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split()
        self.running.process.kill()
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.running.ended(within=5)
        eventually(lambda: not any(pathlib.Path(f"/proc/{child}").exists() for child in children), 5, "the end of all processes of PostgreSQL")

    def stop(self):
        """Stops PostgreSQL in an orderly way."""
        self.running.process.send_signal(signal.SIGINT)
        self.running.ended(within=20)

    def keep(self, name):
        """Copies the data of the stopped server to a folder of this name."""
        self.host.run("cp", "-a", self.data, f"/run/postgresql/{name}")

    def put_back(self, name):
        self.host.run("rm", "-rf", self.data)
        self.host.run("cp", "-a", f"/run/postgresql/{name}", self.data)


def settings(database, house="home", labels=None, **postgresql):
    """Returns a history.toml."""
    values = {"host": database.host.ipv4, "tls": "off", **postgresql}
    lines = ["[house]", f"name = {json.dumps(house, ensure_ascii=False)}"]
    if labels:
        lines += ["[labels]", *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in labels.items())]
    lines += ["[postgresql]", *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"
