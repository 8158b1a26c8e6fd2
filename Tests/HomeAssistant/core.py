"""A real, headless Home Assistant on a host of the LAN."""

import http.client
import itertools
import json
import os
import pathlib
import threading
import time

from websockets.sync.client import connect

from deadlines import eventually
from harness.served import socket_on

PORT = 8123
INTEGRATION = pathlib.Path(__file__).parents[2] / "Integrations" / "home-assistant" / "custom_components"
CLIENT = "http://127.0.0.1/"
# Only the integrations that the tests use, because default_config would require more packages.
CONFIGURATION = """
homeassistant:
  name: Home
  unit_system: metric
  time_zone: UTC
api:
config:
energy:
history:
recorder:
  commit_interval: 0
"""


class HomeAssistant:
    """Home Assistant's process and its API. `words` precede its command line. The configuration and the database stay in
    `folder` and are used again after a restart."""

    def __init__(self, host, folder, words=(), discovers=False):
        """With `discovers`, Home Assistant has the project's own integration and finds devices by zeroconf."""
        self.host, self.folder, self._words = host, pathlib.Path(folder), words
        self.folder.mkdir(exist_ok=True)
        (self.folder / "configuration.yaml").write_text(CONFIGURATION + ("zeroconf:\n" if discovers else ""))
        if discovers:
            (self.folder / "custom_components").symlink_to(INTEGRATION)
        self.start()
        self._token = self._onboard()
        self._open()

    def start(self):
        hass = pathlib.Path(os.environ["SMARTPLUG_HOME_ASSISTANT"]) / "bin" / "hass"
        self.running = self.host.start(*self._words, hass, "--config", self.folder, "--skip-pip", name="Home Assistant")
        eventually(self._answers, 60, lambda: f"Home Assistant:\n{self.running.transcript()[-4000:]}")

    def restart(self, words=None, meanwhile=lambda: None):
        self.running.stop()
        meanwhile()
        self._words = self._words if words is None else words
        self.start()
        self._open()

    # The API.

    def _answers(self):
        try:
            return self._ask("GET", "/api/")[0] == 401
        except OSError:
            return False

    def _socket(self):
        made = socket_on(self.host)
        made.settimeout(30)
        made.connect(("127.0.0.1", PORT))
        return made

    def _ask(self, method, path, body=None, form=None, token=None):
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
        connection.sock = self._socket()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if form is not None:
            body = "&".join(f"{key}={value}" for key, value in form.items())
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        elif body is not None:
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def _onboard(self):
        """Creates the owner, as a user does at the first visit."""
        person = {"client_id": CLIENT, "name": "Owner", "username": "owner", "password": "a password of the test", "language": "en"}
        status, text = eventually(
            lambda: (told := self._ask("POST", "/api/onboarding/users", person))[0] == 200 and told, 30, "onboarding")
        form = {"grant_type": "authorization_code", "code": json.loads(text)["auth_code"], "client_id": CLIENT}
        status, text = self._ask("POST", "/auth/token", form=form)
        assert status == 200, text
        return json.loads(text)["access_token"]

    def post(self, path, body):
        return self.asks("POST", path, body)

    def asks(self, method, path, body=None):
        status, text = self._ask(method, path, body, token=self._token)
        assert status == 200, f"{path}: {status} {text[:1000]}"
        return json.loads(text)

    def _open(self):
        self._numbers = itertools.count(1)
        self._socket_of_commands = self._websocket()
        self.changes = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _websocket(self):
        opened = connect("ws://127.0.0.1/api/websocket", sock=self._socket(), max_size=None)
        opened.recv()
        opened.send(json.dumps({"type": "auth", "access_token": self._token}))
        assert json.loads(opened.recv())["type"] == "auth_ok"
        return opened

    def _listen(self):
        listening = self._websocket()
        listening.send(json.dumps({"id": 1, "type": "subscribe_events", "event_type": "state_changed"}))
        try:
            for text in listening:
                told = json.loads(text)
                if told["type"] == "event":
                    self.changes.append(told["event"]["data"])
        except Exception:  # Home Assistant was stopped.
            pass

    def command(self, kind, **fields):
        told = self._result(kind, fields)
        assert told["success"], f"{kind} {fields}: {told['error']}"
        return told["result"]

    def _result(self, kind, fields):
        number = next(self._numbers)
        self._socket_of_commands.send(json.dumps({"id": number, "type": kind, **fields}))
        while True:
            told = json.loads(self._socket_of_commands.recv(timeout=30))
            if told.get("id") == number and told["type"] == "result":
                return told

    # The user's view and actions.

    def add(self, integration, *steps):
        """Adds an integration with its dialog: one answer per step."""
        told = self.post("/api/config/config_entries/flow", {"handler": integration})
        for answer in steps:
            told = self.post(f"/api/config/config_entries/flow/{told['flow_id']}", answer)
        assert told["type"] == "create_entry", told
        return told

    def flows(self, source):
        """Returns the flow ids of the integration's pending dialogs that have this source, by the names that the dialogs show."""
        found = self.command("config_entries/flow/progress")
        return {flow["context"]["title_placeholders"]["name"]: flow["flow_id"] for flow in found
                if flow["handler"] == "smartplug" and flow["context"]["source"] == source}

    def answers(self, flow, **answer):
        """Answers the current step of a dialog, and returns the result."""
        return self.post(f"/api/config/config_entries/flow/{flow}", answer)

    def states(self):
        return {state["entity_id"]: state for state in self.command("get_states")}

    def entities(self, device):
        """Returns the entity ids of the device with that name, by their unique ids."""
        devices = [one["id"] for one in self.command("config/device_registry/list") if one["name"] == device]
        found = self.command("config/entity_registry/list")
        details = {one["entity_id"]: one for one in found if one["device_id"] in devices}
        return {one["unique_id"]: entity for entity, one in details.items()}

    def sees(self, entity, wanted, within=15):
        """Waits until `wanted` is true for the entity's state, and returns the state."""
        def look():
            state = self.states().get(entity)
            return state if state and wanted(state) else None

        return eventually(look, within, lambda: f"{entity}: {self.states().get(entity)}\n{self.running.transcript()[-3000:]}")

    def measures(self, entity, wanted):
        """Waits until the sensor has a number for which `wanted` is true. A sensor has no number before its first reading."""
        return self.sees(entity, lambda state: state["state"] not in ("unknown", "unavailable") and wanted(float(state["state"])))

    def does(self, domain, service, entity, **data):
        self.command("call_service", domain=domain, service=service, service_data=data, target={"entity_id": entity})

    def refuses(self, domain, service, entity):
        """Calls a service that must fail, and returns the error that the user reads."""
        told = self._result("call_service", {"domain": domain, "service": service, "target": {"entity_id": entity}})
        assert not told["success"], told
        return told["error"]["message"]

    def presses(self, entity):
        """Returns the kinds of presses that the event entity reported, in order."""
        told = [change["new_state"] for change in list(self.changes) if change["entity_id"] == entity and change["new_state"]]
        return [state["attributes"]["event_type"] for state in told if state["attributes"].get("event_type")]

    def complaints(self):
        lines = [line.text for line in list(self.running.lines)]
        return [line for line in lines if "ERROR" in line or "mqtt" in line and "WARNING" in line]


def minutes_clock(ahead, period=300):
    """Returns the seconds to add to the wall clock (possibly negative), so that the next multiple of `period` seconds is `ahead` seconds away."""
    return period - ahead - time.time() % period
