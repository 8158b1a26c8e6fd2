"""The daemon's HTTP API with standard clients: Prometheus, promtool, an OpenAPI validator and schemathesis."""

import json
import pathlib
import subprocess
import sys
import time

import pytest
from openapi_spec_validator import validate

from deadlines import eventually
from harness.served import PORT, Served

TOOLS = pathlib.Path(sys.executable).parent
CHECKS = pathlib.Path(__file__).parents[1] / "Web" / "schemathesis.toml"


@pytest.fixture
def served(lan, plug, controller, tmp_path):
    plug(lan.host(), "Kettle", simulate="kettle")
    plug(lan.host(), "Lamp \"one\" \\ two")
    rules = tmp_path / "rules.yaml"
    rules.write_text("- rule: Hall\n  when: { plug: Kettle, button: single }\n  then:\n    - toggle: Kettle\n")
    return Served(controller(lan.host()), tmp_path / "daemon", "--edit-rules", rules=rules).follows(2)


def test_promtool_finds_nothing_to_improve(served):
    """promtool accepts the metrics without a complaint."""
    answer = eventually(lambda: (found := served.ask("GET", "/metrics")) and b"_joules_total" in found.body and found, 10, "readings")
    assert answer.headers["content-type"].startswith("text/plain")
    told = subprocess.run(["promtool", "check", "metrics"], input=answer.body, capture_output=True)
    assert (told.returncode, told.stdout, told.stderr) == (0, b"", b""), told


def test_a_prometheus_scrapes_it(served, tmp_path):
    """A Prometheus scrapes the metrics, including a name with quotes and a backslash."""
    configuration = tmp_path / "prometheus.yml"
    configuration.write_text(
        f"scrape_configs: [{{job_name: plugs, scrape_interval: 1s, static_configs: [{{targets: ['127.0.0.1:{PORT}']}}]}}]\n")
    host = served.controller.host
    host.start(
        "prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={tmp_path}/prometheus",
        "--web.listen-address=127.0.0.1:9090", name="prometheus")

    def query(what):
        asked = f"import urllib.request as r; print(r.urlopen('http://127.0.0.1:9090/api/v1/query?query={what}').read().decode())"
        told = host.finish(sys.executable, "-c", asked)
        return told.objects[0]["data"]["result"] if told.objects else []

    found = eventually(
        lambda: query("smartplug_active_power_watts"), 30, lambda: f"a scrape:\n{host.started[0].transcript()}")
    assert "Kettle" in {one["metric"]["plug"] for one in found}
    assert all(one["value"][1] == "1" for one in query("up"))
    names = {one["metric"]["plug"] for one in query("smartplug_relay_on")}
    assert "Lamp \"one\" \\ two" in names


def test_the_description_is_valid_and_true(served, tmp_path):
    """The OpenAPI document is valid, and schemathesis finds no answer of the API that contradicts it."""
    document = served.get("/api/v1/openapi.json")
    validate(document)
    host = served.controller.host
    assert document["openapi"].startswith("3.1")
    ended = host.finish(
        TOOLS / "schemathesis", "--config-file", CHECKS, "run", f"http://127.0.0.1:{PORT}/api/v1/openapi.json",
        "--max-examples", "15", "--seed", "7",
        "--exclude-path", "/api/v1/stream", "--no-color", "--generation-database", "none", within=80)
    assert ended.status == 0, ended.output[-6000:]


def test_what_the_command_line_prints_is_what_the_interface_answers(served, controller):
    """`plugctl info` and `plugctl on` print the same values as the API."""
    person = served.controller
    eventually(lambda: (served.plug("Kettle") or {}).get("reading"), 10, "a reading")
    told = person.does("info", "Kettle", "--json").objects[0]
    answer = served.plug("Kettle")
    assert (told["id"], told["capabilities"], told["on"]) == (answer["id"], answer["capabilities"], answer["on"])
    switched = served.ask("POST", "/api/v1/plugs/kettle/relay", {"on": True})
    assert switched.status == 200
    again = person.does("on", "Kettle", "--json").objects[0]
    assert set(again) <= set(switched.json) | {"seq"} and again["on"] and switched.json["plug"] == "Kettle"


def test_health_and_readiness_are_told(served):
    """/health and /ready answer with status 200. Over the local socket, /health names the directory of the history."""
    assert served.get("/health") == {"status": "ok", "history": str(served.folder / "history")}
    assert served.ask("GET", "/ready").status == 200


def test_a_plug_that_is_away_is_said_to_be(lan, plug, served):
    """A command to a plug that is away fails with 503 within 15 s, and a command to an unknown plug with 404."""
    fan = plug(lan.host(), "Fan")
    served.sees("Fan", "connected")
    fan.running.process.kill()
    served.sees("Fan", "away", 60)
    began = time.monotonic()
    answer = served.ask("POST", "/api/v1/plugs/Fan/relay", {"on": True})
    assert answer.status == 503 and json.loads(answer.body)["error"], answer
    assert time.monotonic() - began < 15
    assert served.ask("POST", "/api/v1/plugs/Nobody/relay", {"on": True}).status == 404
