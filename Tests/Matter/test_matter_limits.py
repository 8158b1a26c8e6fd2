"""Limits of a plug's Matter device that take minutes to reach."""

import time

import pytest

from deadlines import eventually
from home import Refused
from matter_plug import MatterPlug

WINDOW = 180  # seconds, the shortest time (Matter 11.19.8.1)
SUPPORTED_FABRICS, COMMISSIONED_FABRICS = "0/62/2", "0/62/3"


@pytest.fixture
def lamp(lan, plug, tmp_path, credentials, controller):
    return MatterPlug(plug, lan.host(), "Lamp", tmp_path, credentials, controller(lan.host()))


@pytest.mark.time_limit(300)
def test_a_window_closes_by_itself(lamp, home):
    """A window that is open for the shortest time, three minutes, closes without a commissioner."""
    first = home()
    first.does("commission", code=lamp.code, node=1)
    first.does("open_window", node=1, seconds=WINDOW, discriminator=3000)
    time.sleep(WINDOW - 15)
    assert lamp.status()["window"] <= 15
    eventually(lambda: "window" not in lamp.status(), 20, lamp.status)
    assert first.read(1, "0/60/0") == 0


@pytest.mark.time_limit(300)
def test_the_table_of_fabrics_is_full(lamp, home):
    """The plug accepts as many homes as it states, and refuses the next one without harm to the others."""
    homes = [home()]
    homes[0].does("commission", code=lamp.code, node=1)
    supported = homes[0].read(1, SUPPORTED_FABRICS)
    assert supported >= 5
    for number in range(2, supported + 1):
        homes.append(home())
        homes[-1].does("commission", code=lamp.open_window(), node=number)
    late = home()
    with pytest.raises(Refused):
        late.does("commission", code=lamp.open_window(), node=99)
    assert len(lamp.asks()["fabrics"]) == supported
    for number, one in enumerate(homes, 1):
        assert one.read(number, COMMISSIONED_FABRICS) == supported
