"""A real VictoriaMetrics on a host."""

import json
import pathlib
import urllib.parse

from deadlines import eventually

PORT = 8428


class VictoriaMetrics:
    def __init__(self, host, folder, *flags, user=None):
        """`user`: the name and password that the server requires, or None for no authentication."""
        self.host, self.folder = host, pathlib.Path(folder)
        self.flags, self._user = flags, user
        self.start()

    def start(self):
        secret = ["-httpAuth.username", self._user[0], "-httpAuth.password", self._user[1]] if self._user else []
        self.running = self.host.start(
            "victoria-metrics", "-storageDataPath", self.folder, "-httpListenAddr", f":{PORT}", "-retentionPeriod", "100y",
            "-loggerLevel", "WARN", "-memory.allowedBytes", "64MB", "-search.latencyOffset", "0s", *secret, *self.flags)
        eventually(lambda: self._get("/health").status == 0, 15, lambda: f"VictoriaMetrics:\n{self.running.transcript()[-3000:]}")

    def stop(self):
        """Stops the server in an orderly way. A killed server would lose acknowledged samples that are still in memory."""
        self.running.terminate()
        self.running.ended(within=15)

    def _get(self, path, **query):
        who = ["-u", ":".join(self._user)] if self._user else []
        return self.host.finish(
            "curl", "-sf", "-m", "10", *who, f"http://127.0.0.1:{PORT}{path}?{urllib.parse.urlencode(query)}", within=15)

    def values(self, metric):
        """Returns a pair for each series of the metric: its labels, and its values by milliseconds since 1970."""
        # Makes the latest samples visible.
        self._get("/internal/force_flush")
        done = self._get("/api/v1/export", **{"match[]": metric})
        assert done.status == 0, done
        return [(series["metric"], dict(zip(series["timestamps"], series["values"])))
                for series in map(json.loads, done.output.splitlines())]

    def query(self, expression, **range):
        """Evaluates an expression like a dashboard: at one time, or with start, end and step."""
        self._get("/internal/force_flush")
        done = self._get("/api/v1/query_range" if "step" in range else "/api/v1/query", query=expression, **range)
        assert done.status == 0, f"{expression}: {done}"
        told = json.loads(done.output)
        assert told["status"] == "success", told
        return told["data"]["result"]

    def settings(self, house="home", **more):
        """Returns a history.toml."""
        lines = ["[house]", f"name = {json.dumps(house, ensure_ascii=False)}", "[labels]", 'city = "Bonn"', "[remote_write]",
                 f'url = "http://{self.host.ipv4}:{PORT}/api/v1/write"', "interval = 1"]
        return "\n".join(lines + [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in more.items()]) + "\n"
