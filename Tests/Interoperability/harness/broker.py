"""Real brokers on hosts, and mosquitto's clients for them."""

import json
import pathlib


from deadlines import eventually
from harness.served import socket_on

PORT = 1883


class Node:
    """A broker on a host, or a node of a cluster. Subclasses define `start`. `account` has the options of mosquitto's clients
    for user and password."""

    def __init__(self, host, address, port=PORT, account=()):
        self.host, self.address, self.port, self._account = host, address, port, account

    def answers(self):
        probe = socket_on(self.host)
        try:
            return probe.connect_ex((self.address, self.port)) == 0
        finally:
            probe.close()

    def kill(self):
        self.running.process.kill()
        self.running.ended(within=5)

    def client(self, program, *words):
        return [program, "-V", "5", "-h", self.address, "-p", self.port, *self._account, *words]

    def listen(self, *words, topic="#"):
        return Listener(self.host.start(*self.client("mosquitto_sub", "-F", "%j", "-q", "1", "-t", topic, *words)))

    def publish(self, topic, message, *words):
        done = self.host.finish(*self.client("mosquitto_pub", "-q", "1", "-t", topic, "-m", message, *words))
        assert done.status == 0, done

    def ask(self, topic, message, correlation="1", *words, within=12):
        """Sends a request and returns the answer as an object, or None without an answer within 10 s."""
        done = self.host.finish(
            *self.client(
                "mosquitto_rr", "-q", "1", "-t", topic, "-e", f"smartplug/answers/test{correlation}", "-W", "10",
                "-D", "publish", "correlation-data", correlation, "-m", message, *words),
            within=within)
        return json.loads(done.output) if done.output else None


class Broker(Node):
    """mosquitto. `settings` are lines of mosquitto.conf for a listener at `port`. With `persistent`, messages that were
    accepted at least one second before a `kill -9` survive it."""

    def __init__(self, host, folder, settings=("allow_anonymous true",), port=PORT, persistent=False, encrypted=False):
        super().__init__(host, "127.0.0.1", port)
        self.folder, self._is_encrypted = pathlib.Path(folder), encrypted
        self.folder.mkdir(exist_ok=True)
        kept = [f"persistence_location {self.folder}/", "persistence true", "autosave_interval 1"] if persistent else []
        self._file = self.folder / "mosquitto.conf"
        self._file.write_text("\n".join(["user root", f"listener {port}", *settings, *kept]) + "\n")
        self.start()

    def start(self):
        self.running = self.host.start("mosquitto", "-c", self._file, name="mosquitto")
        eventually(self.answers, 10, lambda: f"mosquitto:\n{self.running.transcript()}")

    def settings(self, *lines, **home_assistant):
        tls = [] if self._is_encrypted else ['tls = "off"']
        return settings([f'host = "{self.host.ipv4}"', f"port = {self.port}", *tls, *lines], home_assistant)


class Cluster:
    """ejabberd nodes, each on a host, that form one broker: a message published at one node arrives at all."""

    def __init__(self, hosts, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(exist_ok=True)
        self._password = folder / "password"
        self._password.write_text("sesame\n")
        self._password.chmod(0o600)
        self.nodes = []
        for number, host in enumerate(hosts):
            self.nodes.append(ClusterNode(host, folder / f"node{number}", self.nodes[0].address if self.nodes else None))

    def settings(self, *lines, **home_assistant):
        hosts = json.dumps([node.address for node in self.nodes])
        own = [f"host = {hosts}", 'tls = "off"', 'user = "house@cluster"', f'password_file = "{self._password}"']
        return settings([*own, *lines], home_assistant)


class ClusterNode(Node):
    program = pathlib.Path(__file__).with_name("ejabberd_node")

    def __init__(self, host, folder, other):
        super().__init__(host, host.ipv4, account=("-u", "house@cluster", "-P", "sesame"))
        self._words = [self.program, folder, host.ipv4, *([other] if other else [])]
        self.start()

    def start(self):
        self.running = self.host.start(*self._words, name="ejabberd")
        self.running.seen(lambda line: line.text == "ready", 30, "that it is a node of the cluster")


def settings(lines, home_assistant):
    """Returns a broker.toml."""
    text = ["[broker]", *lines]
    if home_assistant:
        text += ["[home_assistant]", *(f"{key} = {json.dumps(value)}" for key, value in home_assistant.items())]
    return "\n".join(text) + "\n"


class Listener:
    """A running `mosquitto_sub`."""

    def __init__(self, running):
        self.running = running

    @property
    def messages(self):
        """Topic, message and retain flag of each message, in the order of arrival."""
        told = [line.json for line in list(self.running.lines) if line.json]
        return [(one["topic"], self._read(one.get("payload") or ""), bool(one["retain"])) for one in told]

    @staticmethod
    def _read(text):
        try:
            return json.loads(text)
        except ValueError:
            return text

    @property
    def newest(self):
        """The last message of each topic."""
        return {topic: message for topic, message, _ in self.messages}

    def has(self, topic, wanted, within=15):
        """Waits for a message of the topic for which `wanted` is true, and returns the first."""
        def look():
            # The tuple makes an empty message a true result.
            return next(((message,) for told, message, _ in self.messages if told == topic and wanted(message)), None)

        return eventually(look, within, lambda: f"a message of {topic}; these came:\n{self.running.transcript()[-3000:]}")[0]

    def events(self, plug):
        return [message for topic, message, _ in self.messages if topic.endswith(f"{plug}/event")]
