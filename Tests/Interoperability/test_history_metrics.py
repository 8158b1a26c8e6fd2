"""Tests the delivery of the history to a real VictoriaMetrics by Prometheus remote write, and the dashboards in Integrations/grafana."""

import json
import pathlib
import re
import time

import pytest

from deadlines import eventually
from harness.metrics import VictoriaMetrics
from harness.postgres import Postgres, make_cluster, settings
from test_history_export import ToldHouse, fetched, local_energy, local_samples, catches_up

DASHBOARDS = pathlib.Path(__file__).parents[2] / "Integrations/grafana"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    return make_cluster(tmp_path_factory.mktemp("cluster") / "c")


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    return ToldHouse(lan, plug, controller, tmp_path)


def power(metrics):
    """Returns the samples in the format of `local_samples`."""
    return {(labels["id"], at): value for labels, values in metrics.values("smartplug_active_power_watts") for at, value in values.items()}


def has_all(house, metrics):
    def looks():
        here, there = local_samples(house.history), power(metrics)
        return here and here.keys() <= there.keys() and here

    here = eventually(looks, 40, lambda: f"all samples:\n{house.served.running.transcript()[-3000:]}")
    there = power(metrics)
    # The daemon continues; newer samples are not an error.
    newest = max(at for _, at in here)
    assert {key for key in there if key[1] <= newest} == here.keys()
    assert all(abs(there[key] - watts) < 1e-6 for key, watts in here.items())
    return here


def test_remote_write_has_the_samples_and_counters_and_answers_with_the_same_energy(house, lan, tmp_path):
    """VictoriaMetrics gets all samples and counters without loss, and computes the same energy as the history."""
    secret = house.configuration / "metrics-password"
    secret.write_text("right horse\n")
    secret.chmod(0o600)
    metrics = VictoriaMetrics(lan.host(), tmp_path / "metrics", user=("house", "right horse"))
    house.writes(metrics.settings(user="house", password_file="metrics-password"))
    house.add("Lamp", hours=2), house.add("Heater/+# 💡", hours=2)
    house.start().follows(2)
    fetched(house, 2)
    house.says("remote write has the complete history")
    # After a kill, the daemon sends a part of the history again. After an outage of the server, it sends the missing samples.
    house.served.kill()
    house.start().follows(2)
    metrics.stop()
    now = time.time()
    lines = [f"{time.strftime('%d/%m/%Y %H:%M:%S', time.gmtime(now - 7200 + second))};1000" for second in range(0, 3610, 10)]
    house.imports("Mixer", lines)
    house.says("does not receive the history")
    metrics.start()
    here = has_all(house, metrics)
    assert len({plug for plug, _ in here}) == 3
    for labels, _ in metrics.values("smartplug_active_power_watts"):
        assert labels["house"] == "home" and labels["city"] == "Bonn" and labels["plug"]

    def has_counters():
        counters = {(plug, wall): round(energy * 3.6) for plug, wall, energy in house.history.query(
            "SELECT plug.plug, wall, milliwatt_hours FROM counter JOIN plug ON plug.id = counter.plug")}
        told = {(labels["id"], at): value for labels, values in metrics.values("smartplug_active_energy_joules_total")
                for at, value in values.items()}
        return counters and counters.items() <= told.items()

    eventually(has_counters, 20, "all readings of the counters")
    # The integral ends at the last sample, because that sample's power would also count for the time after it.
    mixer, = [values for labels, values in metrics.values("smartplug_active_power_watts") if labels["plug"] == "Mixer"]
    energy, = metrics.query('integrate(smartplug_active_power_watts{plug="Mixer"}[3h]) / 3600', time=max(mixer) / 1000)
    local = sum(row[2] for row in local_energy(house) if row[0] == "Mixer")
    assert float(energy["value"][1]) == pytest.approx(local, rel=1e-6) and local == pytest.approx(1000, rel=1e-3)
    # Each query of the dashboard is answered, and all except those of voltage and current have results.
    document = json.loads((DASHBOARDS / "prometheus.json").read_text())
    end = (int(time.time()) // 60 + 1) * 60  # a step after all values
    for panel in document["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__range", "3h").replace("$__interval", "60s").replace("$house", "home")
            assert "$" not in expression
            answer = metrics.query(expression, start=end - 10_800, end=end, step="60s") if target["range"] else metrics.query(expression)
            if not re.search("voltage|current", expression):
                assert answer, expression
    assert "horse" not in house.served.running.transcript()


def test_the_dashboard_of_postgresql_asks_what_the_database_answers(house, lan, cluster, tmp_path):
    """Every query of the PostgreSQL dashboard works with a reader's rights, and all but those of plugs that are away have a result."""
    database = Postgres(lan.host(), cluster, tmp_path / "postgres")
    house.writes(settings(database))
    lamp = house.add("Lamp", hours=1)
    house.start().follows(1)
    fetched(house, 1)
    lamp.press()
    eventually(lambda: database.value("SELECT count(*) FROM smartplug.events WHERE kind = 'relay'") if database.psql(
        "SELECT 1 FROM smartplug.events").status == 0 else 0, 30, "the event")
    catches_up(house, database)
    database.sql("CREATE ROLE grafana LOGIN", "SELECT smartplug.admit('grafana', 'home')")
    document = json.loads((DASHBOARDS / "postgresql.json").read_text())
    variable, = document["templating"]["list"]
    assert database.rows(variable["query"], user="grafana") == [{"name": "home"}]
    begin, end = (time.strftime("'%Y-%m-%dT%H:%M:%SZ'", time.gmtime(time.time() + shift)) for shift in (-7200, 60))
    asked = set()
    for panel in document["panels"]:
        for target in panel["targets"]:
            query = target["rawSql"].replace("${house:sqlstring}", "'home'").replace("$__timeTo()", end).replace("$__timeFrom()", begin)
            query = re.sub(r"\$__timeFilter\((\w+)\)", rf"\1 BETWEEN {begin} AND {end}", query)
            assert "$" not in query
            rows = database.rows(query, user="grafana")
            asked.add(panel["title"])
            if "away" not in panel["title"]:
                assert rows, panel["title"]
            if target["format"] == "time_series":
                assert set(rows[0]) == {"time", "metric", "value"} and rows[0]["metric"] == "Lamp"
    assert len(asked) == len(document["panels"])
