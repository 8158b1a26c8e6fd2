"""Conflicts over an established name (RFC 6762 section 9)."""

from dataclasses import replace

from conformance.alterations import dropped, readdressed, records, response, to_target, with_port
from conformance.bench import SERVICE_TYPE
from conformance.conditions import gives, is_response, probes_for
from conformance.criterion import criterion, failed, passed
from conformance.frames import GROUP_MACS, GROUPS
from conformance.records import A, PTR, SRV, Name, Record, address_bytes

RIVAL_LOST = to_target("the rival's responses are lost", dropped(response))


def claimed(bench, name, claim, **how):
    """Claims the name once as a rival; returns the claim and the target's first probe for the name."""
    said = bench.peer.tell(claim, **how)
    probe = bench.peer.first(probes_for(name), 3, said)
    if probe is None:
        raise failed("it did not probe again within 3 s", said)
    return said, probe


@criterion("RFC 6762 §9", "a conflicting record for the service name causes new probes; an undefended name is kept",
           seconds=20, proof=RIVAL_LOST)
def service_claimed(bench):
    service = bench.settled()
    said, _ = claimed(bench, service.instance, service.rival)
    announcement, announced = bench.announced(since=said.at + 0.3)
    if announced.instance != service.instance:
        return failed(f"the name was not defended, but it changed to {announced.instance}", announcement)
    probes = bench.peer.heard(probes_for(service.instance), since=said.at)
    if len(probes) < 3:
        return failed(f"it probed {len(probes)} times", announcement)
    return passed(f"{len(probes)} probes, then announced again", announcement)


@criterion("RFC 6762 §9", "a service whose name a rival defends chooses a new name", seconds=22, proof=RIVAL_LOST)
def service_taken(bench):
    service = bench.settled()

    def defend(packet):
        if packet.message and probes_for(service.instance)(packet):
            bench.peer.tell(service.rival)

    bench.peer.reflect = defend
    said = bench.peer.tell(service.rival)
    renamed = bench.peer.first(
        lambda packet: packet.message.is_response and any(
            record.type == SRV and record.ttl and record.name.folded != service.instance.folded
            for record in packet.message.records), 8, said)
    if renamed is None:
        return failed("it had no new name after 8 s", said)
    announced = bench.service(renamed)
    probes = bench.peer.heard(probes_for(announced.instance), since=said.at, until=renamed.at)
    if len(probes) < 3:
        return failed(f"{announced.instance} was probed {len(probes)} times", renamed)
    return passed(f"it became {announced.instance}, after {len(probes)} probes", renamed)


@criterion("RFC 6762 §9", "a conflicting record for the host name causes new probes; an undefended name is kept",
           seconds=20, proof=RIVAL_LOST)
def host_claimed(bench):
    service = bench.settled()
    said, _ = claimed(bench, service.host, service.rival_address)
    announcement = bench.peer.first(gives(service.host, A), 4, said.at + 0.3)
    if announcement is None:
        return failed("the host name was not defended, but it was not announced again within 4 s", said)
    return passed("probed, then announced again", announcement)


@criterion("RFC 6762 §9", "a host whose name a rival defends chooses a new name, and its services point to it", seconds=22,
           proof=RIVAL_LOST)
def host_taken(bench):
    service = bench.settled()

    def defend(packet):
        if packet.message and probes_for(service.host)(packet):
            bench.peer.tell(service.rival_address)

    bench.peer.reflect = defend
    said = bench.peer.tell(service.rival_address)
    moved = bench.peer.first(
        lambda packet: packet.message.is_response and any(
            record.type == SRV and record.ttl and record.target.folded != service.host.folded
            for record in packet.message.records), 8, said)
    if moved is None:
        return failed("no SRV record pointed to a new host name within 8 s", said)
    return passed(f"the service points to {bench.service(moved).host}", moved)


@criterion("RFC 6762 §9, §6.6", "its own records, echoed by the link, do not count as a rival", seconds=20,
           proof=to_target("the echo has a different port", records(with_port(0xFFFF))))
def own_announcements_echoed(bench):
    service = bench.settled()
    for packet in bench.peer.heard(is_response):
        bench.peer.send(packet.payload, host=3)
    probe = bench.peer.first(lambda packet: packet.message.is_probe, 2.5)
    if probe:
        return failed(f"it probes for {service.instance} again", probe)
    return passed("it did not react to them", None)


@criterion("RFC 6762 §9", "a host with the same shared record does not count as a rival", seconds=20, proof=to_target(
    "the other host's record becomes a claim to its host name", records(
        lambda record: replace(record, name=record.target, type=A, data=address_bytes("250.0.0.9"), flush=True))))
def shared_is_no_conflict(bench):
    service = bench.settled()
    other = Record(SERVICE_TYPE, PTR, 4500, (Name(["Other"]) + SERVICE_TYPE).encoded)
    # With the alteration, the record whose data is the host name becomes a claim to this name.
    bench.peer.tell(other, Record(SERVICE_TYPE, PTR, 4500, service.host.encoded), host=3)
    probe = bench.peer.first(lambda packet: packet.message.is_probe, 2.5)
    if probe:
        return failed("it probes again", probe)
    goodbye = bench.peer.heard(gives(service.instance, SRV, alive=False))
    if goodbye:
        return failed("it sent a goodbye", goodbye[0])
    return passed("it did not react to it", None)


@criterion("RFC 6762 §6.6", "a goodbye from another host for its own record makes it announce the record again",
           seconds=20, proof=RIVAL_LOST)
def rescued(bench):
    service = bench.settled()
    said = bench.peer.tell(replace(service.srv, ttl=0, flush=True), host=3)
    again = bench.peer.first(gives(service.instance, SRV), 2, said)
    if again is None:
        return failed("not announced again within 2 s after another host's goodbye", said)
    return passed(f"announced again after {again.at - said.at:.2f} s", again)


@criterion("RFC 6762 §6", "a response from a port other than 5353 does not count as a conflict", seconds=20, proof=to_target(
    "the claim is sent from port 5353", lambda packet: [(0, replace(packet, source_port=5353))]))
def claim_from_elsewhere(bench):
    service = bench.settled()
    said = bench.peer.tell(service.rival, port=40000)
    probe = bench.peer.first(lambda packet: packet.message.is_probe, 2.5, said)
    if probe:
        return failed("it probes again", probe)
    return passed("it did not react to it", said)


@criterion("RFC 6762 §6", "an unrequested unicast response does not count as a conflict", seconds=20, proof=to_target(
    "the claim goes to the group", readdressed(response, destination=GROUPS[4], destination_mac=GROUP_MACS[4])))
def claim_to_it_alone(bench):
    service = bench.settled()
    announcement = bench.peer.heard(is_response)[-1]
    said = bench.peer.tell(service.rival, to=(announcement.source, announcement.source_mac))
    probe = bench.peer.first(lambda packet: packet.message.is_probe, 2.5, said)
    if probe:
        return failed("it probes again", probe)
    return passed("it did not react to it", said)
