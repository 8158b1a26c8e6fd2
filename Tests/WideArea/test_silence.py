"""A long capture of a plug without [wide_area]."""

import pytest

from router import Internet, Router
from silence import packets_of_an_unconfigured_plug

HOUR = 3600


@pytest.mark.time_limit(HOUR + 120)
def test_an_hour_without_a_packet(lan, plug, controller, tmp_path):
    router = Router(Internet(lan), lan, tmp_path / "router")
    assert packets_of_an_unconfigured_plug(lan, plug, controller, router, seconds=HOUR) == []
