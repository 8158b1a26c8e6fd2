"""The programs under test, on a host of the LAN."""

import pathlib
import sys

from deadlines import eventually
from harness.keys import introduce


class Plug:
    """`plugd run`, and the local commands for it."""

    def __init__(
            self, programs, host, name, state, simulate="lamp", runtime=None, prepare=None, paired=True, memory=None, as_user=(),
            **options):
        """`prepare` is a line of shell that runs before the plug, in the plug's own mount namespace. If `paired`, the plug is paired with
        the test's controllers, or with those whose XDG_STATE_HOME is `memory`. Otherwise the plug is new. `as_user`: words in front of
        plugd's command line, such as a command that changes the user. An option with a list is repeated for each value."""
        if paired:
            introduce(pathlib.Path(state), name, memory)
        self.host, self.name, self.state = host, name, state
        self._places = ["--state", state] + (["--runtime", runtime] if runtime else [])
        self._runtime = runtime or pathlib.Path(state) / "run"
        self._plugd = programs / "plugd"
        more = [word for option, values in options.items() for value in (values if isinstance(values, list) else [values])
                for word in (f"--{option}", value)]
        private = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", f'{prepare}; exec "$@"', "sh"]
        self.running = host.start(
            *(private if prepare else []), *as_user, self._plugd, "run", "--name", name, *self._places, "--simulate", simulate, *more,
            name=f"plugd {name}")

    def press(self, *how):
        return self.host.finish(self._plugd, "press", *self._places, *how)

    def setup_code(self):
        """Returns the file with the setup code, once the plug has created it."""
        file = pathlib.Path(self.state) / "setup-code"
        eventually(file.exists, 5, lambda: f"a setup code:\n{self.running.transcript()}")
        return file

    def status(self):
        return self.host.finish(self._plugd, "status", *self._places).objects[0]

    def answers(self):
        """Returns True if the plug has started."""
        return bool(self.host.finish(self._plugd, "status", *self._places).objects)

    def networks(self):
        """Returns the plug's interfaces from `plugd status`, or an empty list before the plug has started."""
        told = self.host.finish(self._plugd, "status", *self._places)
        return told.objects[0]["networks"] if told.objects else []

    def handed_on(self, name):
        """The lines of a file in which the plug publishes the servers that the DHCP server named."""
        return (pathlib.Path(self._runtime) / name).read_text().splitlines()

    def load(self, value):
        return self.host.finish(self._plugd, "load", *self._places, value)


class Controller:
    """`plugctl` on a host, with one method per command."""

    def __init__(self, programs, host, memory=None):
        """`memory` is the controller's XDG_STATE_HOME, if it differs from the test's."""
        self.host = host
        self.program = programs / "plugctl"
        self._command = [*(["env", f"XDG_STATE_HOME={memory}"] if memory else []), self.program]

    def under(self, words):
        """Puts these words in front of all further command lines."""
        self._command = [*words, *self._command]

    def start(self, *words):
        return self.host.start(*self._command, *words, name=f"plugctl {' '.join(map(str, words))}")

    def finish(self, *words, within=15):
        return self.host.finish(*self._command, *words, within=within)

    def does(self, *words, within=15):
        """Runs a command that must succeed."""
        done = self.finish(*words, within=within)
        assert done.status == 0, f"plugctl {' '.join(map(str, words))}: {done}"
        return done

    def browse(self):
        return self.browsing()

    def browsing(self, *words):
        return Browser(self.start("browse", "--json", *words))

    def packets(self, *words):
        """Starts `plugctl browse --packets`."""
        return self.start("browse", "--packets", *words)

    def doctor(self, *words, within=25):
        return self.finish("doctor", "--json", *words, within=within)

    def watch(self, *words):
        return self.start("watch", *words, "--json")

    def daemon(self, rules, *words, state=None, history=None, socket=None):
        """Starts the daemon. Its state, history and socket are next to the rules; its dashboard uses any free port of
        its host."""
        state, history = state or rules.parent / "daemon", history or rules.parent / "history"
        socket = socket or rules.parent / "daemon.socket"
        return self.start(
            "daemon", "--json", "--rules", rules, "--state", state, "--history", history, "--socket", socket,
            "--listen", "127.0.0.1:0", *words)

    def with_unread_output(self):
        """Writes the standard output of all further commands into a pipe of 4096 bytes that no program reads."""
        change = "import fcntl, os, sys; unread, end = os.pipe(); fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 4096); os.set_inheritable(unread, True); " \
                 "os.dup2(end, 1); os.execvp(sys.argv[1], sys.argv[1:])"
        self._command = [sys.executable, "-c", change, *self._command]
        return self

    def through(self, socket):
        """Sends all further commands through the daemon with this socket."""
        self._command = ["env", f"SMARTPLUG_DAEMON={socket}", *self._command]

    def resolve(self, name):
        return self.does("resolve", name, "--json").objects[0]

    def port(self, name):
        return self.resolve(name)["port"]


class Browser:
    """A running `plugctl browse --json`."""

    def __init__(self, running):
        self.running = running

    def found(self, name, within=8):
        return self._told("found", name, within).json

    def found_at(self, name, within):
        return self._told("found", name, within).at

    def told_text(self, name, txt, within):
        """Waits for the TXT record, which may arrive after the service was found, as a change."""
        self.running.seen_object(lambda told: (told["name"], told["txt"]) == (name, txt), within, f"{txt} of {name}")

    def lost(self, name, since, within):
        """Returns the seconds from `since` until the last interface lost the service."""
        def last():
            interfaces = {told["interface"]: (told["event"], line.at) for line, told in self._about(name)}
            return all(event == "lost" for event, _ in interfaces.values()) and max(at for _, at in interfaces.values())

        return eventually(last, within, lambda: f"plugctl losing {name}:\n{self.running.transcript()}") - since

    def names(self):
        """Returns the names of the services that are currently found on an interface."""
        present = {}
        for line in list(self.running.lines):
            if line.json:
                present[line.json["name"], line.json["interface"]] = line.json["event"] != "lost"
        return {name for (name, _), there in present.items() if there}

    def shows(self, names, within=10):
        eventually(
            lambda: self.names() == set(names), within, lambda: f"exactly {sorted(names)}:\n{self.running.transcript()}")

    def _about(self, name):
        return [(line, line.json) for line in list(self.running.lines) if line.json and line.json["name"] == name]

    def _told(self, event, name, within):
        return self.running.seen_object(
            lambda told: told["event"] == event and told["name"] == name, within, f"{event} {name}")
