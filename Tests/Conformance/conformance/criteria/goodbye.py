"""Goodbyes and changed records (RFC 6762 sections 8.4, 10.1)."""

import re

from conformance.alterations import dropped, from_target, holding, records, with_ttl
from conformance.bench import SERVICE_TYPE
from conformance.conditions import gives, probes_for, record_in, tells
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.records import PTR, SRV, TXT

NO_GOODBYE = from_target("goodbyes are lost", dropped(holding(PTR, alive=False)))


def says_goodbye(service):
    def check(packet):
        return packet.message.is_response and any(
            record.type == PTR and record.ttl == 0 and record.target == service.instance
            for record in packet.message.records)
    return check


@criterion("RFC 6762 §10.1", "a stopped service sends a goodbye within one second", seconds=16, worst=WARN,
           proof=NO_GOODBYE)
def goodbye_when_stopped(bench):
    service = bench.settled()
    stopped = bench.target.stop()
    said = bench.peer.first(says_goodbye(service), 3, stopped)
    if said is None:
        return warned("no PTR record with time to live 0 within 3 s", None)
    seconds = said.at - stopped
    return (passed if seconds <= 1 else warned)(f"goodbye {seconds:.2f} s after SIGTERM", said)


@criterion("RFC 6762 §6, §10.1", "no record is sent after the goodbye", seconds=16,
           proof=from_target("the goodbye's TTL is set to 120 s", records(with_ttl(120), holding(PTR, alive=False))))
def silent_after_goodbye(bench):
    service = bench.settled()
    stopped = bench.target.stop()
    bench.peer.first(lambda _: False, 2.5, stopped)
    alive = bench.peer.heard(
        lambda packet: packet.message.is_response and any(
            record.type == PTR and record.ttl and record.target == service.instance
            for record in packet.message.records), since=stopped)
    if alive:
        return failed("it still sends its PTR record", alive[-1])
    return passed("no live PTR record after the goodbye", None)


@criterion("RFC 6762 §8.4", "a changed TXT record is announced with the cache-flush bit", seconds=23, needs={"txt"},
           proof=from_target("TXT records with the new value are lost", records(
               lambda record: None if record.type == TXT and re.search(b"id=2|pair=1", record.data) else record)))
def txt_changed(bench):
    service = bench.settled()
    before = record_in(bench.peer.heard(gives(service.instance, TXT))[-1], service.instance, TXT)
    bench.target.change_txt()
    told = bench.peer.first(
        lambda packet: packet.message.is_response and any(
            record.type == TXT and record.ttl and record.data != before.data for record in packet.message.records), 4)
    if told is None:
        return failed("the new TXT record was not announced within 4 s", None)
    if not record_in(told, service.instance, TXT).flush:
        return failed("without the cache-flush bit", told)
    return passed("announced with the cache-flush bit", told)


@criterion("RFC 6762 §8.4", "a renamed service sends a goodbye for the old name, probes and announces",
           seconds=20, needs={"rename"}, proof=NO_GOODBYE)
def renamed(bench):
    service = bench.settled()
    bench.target.rename()
    started = bench.peer.packets[-1].at
    said = bench.peer.first(says_goodbye(service), 5, started)
    if said is None:
        return failed("no goodbye to the old name within 5 s", None)
    announcement = bench.peer.first(
        lambda packet: tells(SRV, SERVICE_TYPE)(packet) and not gives(service.instance, SRV)(packet), 8, started)
    if announcement is None:
        return failed("the new name was not announced within 8 s", said)
    new = bench.service(announcement)
    probes = bench.peer.heard(probes_for(new.instance), since=started, until=announcement.at)
    if len(probes) < 3:
        return failed(f"{new.instance} was probed {len(probes)} times", announcement)
    return passed(f"goodbye, {len(probes)} probes, announced as {new.instance}", announcement)
