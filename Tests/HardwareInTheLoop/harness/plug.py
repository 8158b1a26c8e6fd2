"""plugd in the guest, with the kernel's drivers for simulated chips and lines, and a controller next to it."""

import json
import shlex

from deadlines import eventually

KNOWN = "/var/lib/known"  # The folder in the guest with the state of a paired plug and its controller.
WIRED = {
    "plug": {"name": "Plug"},
    "network": {"interface": "lo"},
    "relay": {"line": "RELAY"},
    "button": {"line": "BUTTON"},
    # The simulated meters measure current also while the relay is open, which plugd would report as a welded relay.
    "protection": {"welded_relay": False},
}


def configuration(tables):
    """Returns the text of a configuration file."""
    def value(what):
        return json.dumps(what)

    return "".join(
        f"[{table}]\n" + "".join(f"{key} = {value(what)}\n" for key, what in keys.items()) for table, keys in tables.items())


class Plug:
    """A plug in the guest: its folder, and its program after `start`."""

    def __init__(self, guest, libraries, folder, parts):
        """`libraries`: folders for libgpiod, separated by colons. `parts`: tables of the configuration that replace
        those of WIRED; None removes a table."""
        self._guest, self.libraries, self.folder = guest, libraries, folder
        tables = {table: keys for table, keys in (WIRED | parts).items() if keys is not None}
        self.file = f"{folder}/plugd.toml"
        self._places = f"--state {folder}/state --runtime {folder}/run"
        guest.does(f"mkdir -p {folder}")
        guest.write(self.file, configuration(tables))

    def start(self, waits=True, wrapped="", state=None):
        """Starts plugd, and waits until it answers if `waits`. `wrapped` is a command that runs plugd. `state` is a state folder that
        replaces the default one."""
        if state:
            self._places = f"--state {state} --runtime {self.folder}/run"
        self._guest.does(
            f"{self._found} {wrapped} plugd run --config {self.file} {self._places} --log-level debug"
            f" >>{self.folder}/log 2>&1 </dev/null & echo $! >{self.folder}/pid")
        if waits:
            self.is_ready()
        return self

    @property
    def _found(self):
        return f"LD_LIBRARY_PATH={self.libraries}"

    def is_ready(self, within=30):
        def ready():
            if self.status():
                return True
            assert self.is_running(), f"plugd ended:\n{self.log()}"
            return False

        eventually(ready, within, lambda: f"plugd running:\n{self.log()}")

    def status(self):
        """The plug's status from its panel socket, decoded from JSON, or None if the plug does not answer."""
        done = self._guest.run(f"ask {self.folder}/run/panel.sock status")
        return json.loads(done.text.removeprefix("ok ")) if done.status == 0 and done.text.startswith("ok ") else None

    def shows(self, check, what, within=20):
        """Waits until `check` is true for the status, and returns the status."""
        def right():
            status = self.status()
            return status if status and check(status) else None

        return eventually(right, within, lambda: f"{what}; it is {self.status()}\n{self.log()}")

    def is_running(self):
        return self._guest.run(f"kill -0 $(cat {self.folder}/pid) 2>/dev/null").status == 0

    def kill(self, signal=9):
        self._guest.does(f"kill -{signal} $(cat {self.folder}/pid)")
        self.has_ended()

    def stop(self):
        self.kill(15)

    def has_ended(self, within=15):
        eventually(lambda: not self.is_running(), within, lambda: f"the end of plugd:\n{self.log()}")

    def log(self):
        return self._guest.run(f"tail -c 6000 {self.folder}/log").text

    def says(self, text, within=15):
        eventually(lambda: text in self.log(), within, lambda: f"'{text}' in the log:\n{self.log()}")

    def once(self, *words):
        """Runs a subcommand of plugd that needs no running plug, such as once("check")."""
        return self._guest.run(f"{self._found} plugd {' '.join(map(shlex.quote, words))} --config {self.file} 2>&1", within=40)

    def command(self, *words):
        """Runs a subcommand that connects to the running plug."""
        return self._guest.run(f"{self._found} plugd {' '.join(map(shlex.quote, words))} {self._places} 2>&1", within=40)

    def refuses_to_start(self):
        """Expects that plugd exits with an error, and returns its output."""
        done = self._guest.run(f"{self._found} timeout 60 plugd run --config {self.file} {self._places} 2>&1", within=40)
        assert done.status not in (0, 143, 137), f"plugd should have failed to start: {done}"
        return done.text


class Controller:
    """plugctl in the guest, which is paired with the plug."""

    def __init__(self, guest, folder):
        self._guest, self.folder = guest, folder
        self._environment = f"XDG_STATE_HOME={folder} SMARTPLUG_INTERFACE=lo"

    def does(self, *words, within=40):
        return self._guest.does(f"{self._environment} plugctl {' '.join(map(shlex.quote, words))} 2>&1", within)

    def fails(self, *words, within=40):
        done = self._guest.run(f"{self._environment} plugctl {' '.join(map(shlex.quote, words))} 2>&1", within)
        assert done.status != 0, f"plugctl should have failed: {done}"
        return done.text

    def introduce(self, plug):
        """Copies the state of a paired plug and controller into both folders, before the plug is started. The pairing itself takes seconds,
        so it is done once per guest."""
        if self._guest.run(f"test -e {KNOWN}/done").status != 0:
            plug.start()
            self.does("pair", "Plug", "--code-file", f"{plug.folder}/state/setup-code")
            plug.stop()
            self._guest.does(
                f"rm -f {plug.folder}/state/state; mkdir -p {KNOWN}; cp -a {plug.folder}/state {KNOWN}/plug;"
                f"cp -a {self.folder} {KNOWN}/controller; rm -rf {plug.folder}/run {plug.folder}/state; touch {KNOWN}/done")
        self._guest.does(f"rm -rf {self.folder}; cp -a {KNOWN}/plug {plug.folder}/state; cp -a {KNOWN}/controller {self.folder}")

    def watch(self):
        """Follows the plug until the test ends."""
        self._guest.does(
            f"mkdir -p {self.folder}; {self._environment} plugctl watch Plug --json >{self.folder}/seen 2>{self.folder}/complaints </dev/null &"
            f" echo $! >>/run/started")
        self.sees("snapshot", within=30)

    def events(self, *names):
        lines = self._guest.does(f"cat {self.folder}/seen").splitlines(keepends=True)
        objects = [json.loads(line) for line in lines if line.endswith("\n")]
        return [told for told in objects if not names or told["event"] in names]

    def sees(self, name, within=30, **fields):
        """Waits for an event with these fields, and returns it."""
        def seen():
            return next((told for told in self.events(name) if fields.items() <= told.items()), None)

        return eventually(
            seen, within,
            lambda: f"{name} {fields}; seen: {self.events()}\n{self._guest.run(f'cat {self.folder}/complaints').text}")
