"""Links that appear, disappear and change (RFC 6762 sections 8, 8.4, 14; RFC 3927 section 2.11 for changes between
link-local and routable addresses)."""

import time
from dataclasses import replace

from conformance.alterations import dropped, from_target, probe, records, response, to_target, with_port, without
from conformance.bench import SERVICE_TYPE
from conformance.conditions import gives, is_response, probes_for
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.records import A, AAAA, PTR, SRV, address_bytes, address_text

from conformance.criteria.answering import expect


def later_probes_lost(packet):
    """Selects probes that are sent more than 4 s after the first probe."""
    return probe(packet) and packet.at - later_probes_lost.__dict__.setdefault("first", packet.at) > 4


def probed_and_announced(bench, service, since, what):
    announcement, announced = bench.announced(within=6, since=since)
    if announced.instance != service.instance:
        return failed(f"{what}, it became {announced.instance}", announcement)
    probes = bench.peer.heard(probes_for(service.instance), since=since, until=announcement.at)
    if len(probes) < 3:
        return failed(f"{what}, it was announced after {len(probes)} probes", announcement)
    seconds = announcement.at - since
    return (passed if seconds < 2.5 else warned)(
        f"{what}, {len(probes)} probes, announced after {seconds:.2f} s", announcement)


@criterion("RFC 6762 §8", "after the cable is reconnected, the service is probed and announced again", seconds=20, retried=1,
           proof=from_target("later probes are lost", dropped(later_probes_lost)))
def cable(bench):
    service = bench.settled()
    bench.set_cable("down")
    bench.pause(1.5)
    back = time.time()
    bench.set_cable("up")
    return probed_and_announced(bench, service, back, "the cable was connected again")


@criterion("RFC 6762 §8", "an interface that appears at run time is used, with probes and announcements", seconds=14,
           retried=1,
           proof=from_target("probes are lost", dropped(probe)))
def interface_appears(bench):
    bench.start_alone()
    bench.pause(2)
    bench.plug_in()
    announcement, service = bench.announced(within=8)
    return probed_and_announced(bench, service, bench.plugged, "the interface appeared")


@criterion("RFC 6762 §8", "an interface that was removed and returned is used again", seconds=22, retried=1,
           proof=from_target("later probes are lost", dropped(later_probes_lost)))
def interface_replaced(bench):
    service = bench.settled()
    bench.unplug()
    bench.pause(1)
    bench.plug_in()
    return probed_and_announced(bench, service, bench.plugged, "the interface returned")


def change_address(bench, old, new):
    """Replaces the target's address. The new address must be announced with the cache-flush bit, and an answer after
    that must not contain the old one."""
    service = bench.service(bench.announced()[0])
    bench.settle()
    since = time.time()
    bench.host.run("ip", "address", "add", f"{new}/{16 if new.startswith('169.254') else 24}", "broadcast", "+",
                   "dev", "eth0")
    bench.host.run("ip", "address", "delete", f"{old}/{16 if old.startswith('169.254') else 24}", "dev", "eth0")
    bench.host.run("ip", "route", "replace", "default", "dev", "eth0")

    def tells(packet):
        return is_response(packet) and any(
            record.type == A and record.data == address_bytes(new) for record in packet.message.records)

    told = bench.peer.first(tells, 5, since)
    if told is None:
        raise failed(f"the new address {new} was not announced within 5 s", None)
    record = next(record for record in told.message.records if record.type == A)
    if not record.flush:
        raise failed("the new address was announced without the cache-flush bit", told)
    bench.peer.quiet(1.2, 10)  # A record is multicast at most once per second.
    asked, answer = bench.answer((service.host, A))
    if answer is None:
        raise failed(f"no answer after the change to {new}", asked)
    addresses = {address_text(record.data) for record in answer.message.records if record.type == A}
    if addresses != {new}:
        raise failed(f"it still sends {', '.join(sorted(addresses - {new}))}", answer)
    return passed(f"{new} announced with the cache-flush bit {told.at - since:.2f} s after the change began", told)


NEW_ADDRESS_LOST = from_target(
    "records with a different address than the first are lost", records(
        lambda record, first={}: None if record.type == A and first.setdefault("data", record.data) != record.data
        else record))


@criterion("RFC 6762 §8.4", "a changed address is announced with the cache-flush bit", seconds=22, proof=NEW_ADDRESS_LOST)
def address_changed(bench):
    bench.start()
    return change_address(bench, bench.host.address(), "10.9.0.150")


@criterion("RFC 6762 §8.4, RFC 3927 §2.11", "a change from a link-local to a routable address is announced",
           seconds=22, proof=NEW_ADDRESS_LOST)
def link_local_to_routable(bench):
    bench.plug_in(address="169.254.7.9/16")
    bench.start()
    return change_address(bench, "169.254.7.9", "10.9.0.100")


@criterion("RFC 6762 §8.4, RFC 3927 §2.11", "a change from a routable to a link-local address is announced",
           seconds=22, proof=NEW_ADDRESS_LOST)
def routable_to_link_local(bench):
    bench.start()
    return change_address(bench, "10.9.0.100", "169.254.7.9")


@criterion("RFC 6762 §3", "the service is announced and answered over IPv6, with an IPv6 address",
           seconds=18, needs={"ipv6"}, proof=from_target("responses over IPv6 are lost", dropped(
               lambda packet: response(packet) and packet.family == 6)))
def ipv6(bench):
    service = bench.settled()
    if not bench.peer.heard(gives(service.instance, SRV), family=6):
        return failed("not announced over IPv6", None)
    answer = expect(bench, (SERVICE_TYPE, PTR), family=6)
    bench.pause()
    expect(bench, (service.host, AAAA), family=6)
    return passed("announced and answered over IPv6", answer)


@criterion("RFC 6762 §6.2", "an answer with an address adds the addresses of the other family", seconds=16, needs={"ipv6"},
           worst=WARN, proof=from_target("IPv6 addresses are lost", records(without(AAAA))))
def both_families(bench):
    service = bench.settled()
    answer = expect(bench, (service.host, A))
    if not gives(service.host, AAAA)(answer):
        return warned("without the IPv6 address", answer)
    return passed("with the IPv6 address", answer)


@criterion("RFC 6762 §6.2", "addresses of other links are not sent", seconds=16, proof=from_target(
    "every address is replaced by the other link's", records(
        lambda record: replace(record, data=address_bytes("10.77.0.1")) if record.type == A else record)))
def own_addresses_only(bench):
    bench.plug_in()
    bench.add_other_link("10.77.0.1/24")
    service = bench.settled()
    expect(bench, (service.host, A))
    heard = bench.peer.heard(gives(service.host, A), family=None)
    for packet in heard:
        for record in packet.message.records:
            if record.type == A and record.data != address_bytes(bench.host.address()):
                return failed(f"it sends {address_text(record.data)}, which is on another link", packet)
    return passed(f"only {bench.host.address()}", heard[-1])


@criterion("RFC 6762 §14", "two interfaces on one link do not conflict with each other", seconds=20, proof=to_target(
    "its own packets arrive with a different port", records(with_port(0xFFFF))))
def two_interfaces(bench):
    bench.plug_in()
    bench.add_second_interface()
    service = bench.settled()
    if service.instance[0] != b"Lamp":
        return failed(f"it became {service.instance}", bench.announced()[0])
    again = bench.peer.heard(probes_for(service.instance), since=bench.announced()[0].at + 1.5)
    if again:
        return failed("it probes again, although no other host is on the link", again[0])
    expect(bench, (service.instance, SRV))
    return passed("announced under its name, on both interfaces", bench.announced()[0])
