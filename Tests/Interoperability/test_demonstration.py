"""The demonstration with a broker, as `Scripts/demo --check --broker` runs it."""

import pathlib
import subprocess

import pytest

PROJECT = pathlib.Path(__file__).parents[2]


@pytest.mark.time_limit(120)
def test_the_demonstration_shows_what_a_subscriber_of_the_broker_hears(programs):
    """The check of the demonstration passes, and mosquitto_sub receives messages of all six plugs."""
    house = """set -euo pipefail
        source Scripts/lib/messages.sh; source Scripts/demonstration/house.sh
        interface=lo traces= from= speed= broker=true
        furnish_house
        check_house"""
    done = subprocess.run(
        ["env", f"programs={programs}", "bash", "-c", house], cwd=PROJECT, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "mosquitto_sub received messages of 6 plugs" in done.stdout
    assert "mosquitto_sub printed: smartplug/home/" in done.stdout
    assert "demo check passed" in done.stdout
