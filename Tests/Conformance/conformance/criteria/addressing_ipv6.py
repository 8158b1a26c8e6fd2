"""The IPv6 link-local address (RFC 4862 sections 5.3 and 5.4, RFC 7217)."""

import time

from conformance import wire
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.frame_alterations import dropped, from_target, mdns, neighbour, neighbour_probe, to_target
from conformance.wire import Neighbour

from conformance.criteria.addressing_links import gives_service

PROBES_LOST = from_target("packets of duplicate address detection are lost", dropped(neighbour_probe))


def usable(bench, within):
    """Waits until the interface has a link-local address that passed duplicate address detection, and returns the address."""
    limit = time.time() + within
    while time.time() < limit:
        for entry in bench.kernel.entries("inet6"):
            if entry["scope"] == "link" and not entry.get("tentative") and not entry.get("dadfailed"):
                return entry["local"]
        time.sleep(0.05)
    raise failed(f"no usable IPv6 link-local address within {within:g} s",
                 next(iter(bench.peer.seen(Neighbour, since=bench.connected)), None))


def detected(bench):
    begin = bench.begin()
    address = usable(bench, 4)
    probes = bench.peer.seen(Neighbour, lambda it: it.is_probe and it.target == address, begin)
    if not probes:
        return failed(f"{address} is used without duplicate address detection")
    return passed(f"{address}, after duplicate address detection", probes[0])


@criterion("RFC 4862 §5.3, §5.4",
           "an IPv6 link-local address is ready within four seconds, after duplicate address detection",
           seconds=8, needs={"ipv6 addresses"}, proof=PROBES_LOST)
def ipv6_link_local(bench):
    return detected(bench)


@criterion("RFC 4862 §5.3, §5.4", "an IPv6 link-local address is also created if the kernel is configured to create none",
           seconds=8, needs={"ipv6 addresses"}, proof=PROBES_LOST)
def ipv6_made(bench):
    bench.plug_in(addr_gen_mode=1)
    return detected(bench)


@criterion("RFC 4862 §5.4.5, RFC 7217 §6", "an IPv6 link-local address in use by another host is replaced", seconds=14,
           needs={"ipv6 addresses"}, proof=to_target("packets of the other host are lost", dropped(neighbour)))
def ipv6_duplicate(bench):
    bench.plug_in()
    taken = set()

    def deny(frame):
        if not isinstance(frame, Neighbour) or not frame.is_probe:
            return
        if not taken:
            taken.add(frame.target)
        if frame.target in taken:
            bench.peer.put(wire.neighbour_advertisement(frame.target, bench.peer.mac(9)))
    bench.peer.reactions.append(deny)
    begin = bench.begin()
    address = usable(bench, 10)
    if address in taken:
        return failed(f"{address} is used, although another host has it", None)
    if not taken:
        return failed("no duplicate address detection")
    probe = bench.peer.await_one(Neighbour, lambda it: it.is_probe and it.target == address, 1, begin)
    return passed(f"{', '.join(taken)} was taken, {address} used", probe)


@criterion("RFC 4862 §5.4", "before it has an IPv4 address, the service is announced over IPv6, within 3.5 s after link-up",
           seconds=9, needs={"ipv6 addresses", "service"}, worst=WARN, retried=1,
           proof=from_target("responses over IPv6 are lost", dropped(
               mdns(lambda it: it.message.is_response and it.family == 6))))
def ipv6_first(bench):
    begin = bench.begin()
    told = bench.peer.first(gives_service, 6, begin, family=6)
    if told is None:
        return warned("not announced over IPv6 within 6 s")
    waited = told.at - begin
    return (passed if waited <= 3.5 + 0.15 else warned)(f"announced {waited:.2f} s after link-up", told)
