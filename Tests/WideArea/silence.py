"""A capture of the packets of a plug without [wide_area]."""

import time

from deadlines import eventually

PORTS = "port 53 or port 853 or port 5350 or port 5351 or port 5352 or port 1900"


def packets_of_an_unconfigured_plug(lan, plug, controller, router, seconds):
    """Returns the packets of PCP, NAT-PMP, UPnP IGD and unicast DNS that the plug sends in its life of that many seconds. The plug reports
    nothing about its router."""
    host = lan.host()
    router.serve(host)
    seen = host.start("tcpdump", "-lni", "eth0", "src", "host", host.ipv4, "and", f"({PORTS})", name="tcpdump")
    seen.seen(lambda line: "listening on" in line.text, 10, "that it captures")
    lamp = plug(host, "Lamp")
    eventually(lamp.answers, 10, "the plug")
    time.sleep(seconds)
    assert "reachability" not in controller(lan.host()).does("info", "Lamp", "--json").objects[0]
    lamp.running.stop()
    assert "wide_area" not in lamp.running.transcript()
    assert router.mapped_ports() == set()
    return [line for line in seen.transcript().splitlines() if " > " in line]
