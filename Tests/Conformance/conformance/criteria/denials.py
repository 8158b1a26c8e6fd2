"""Names that another host already has (RFC 6762 sections 8.1 and 9)."""

import time
from dataclasses import replace

from conformance.alterations import dropped, from_target, probe, repeated, response, to_target
from conformance.bench import LOCAL, SERVICE_TYPE
from conformance.conditions import gives, probes_for, proposes, tells
from conformance.criterion import criterion, failed, passed, unjudged
from conformance.records import A, SRV, Name, Record, address_bytes, srv_data

from conformance.criteria.tiebreaks import first_probe, judge_spacing_of


@criterion("RFC 6762 §8.1, §9", "a service whose name is in use chooses a new name and probes for it",
           proof=to_target("the denial is lost", dropped(response)))
def denied(bench):
    return judge_denied(bench, flush=True)


@criterion("RFC 6762 §8.1, §9", "a denial without the cache-flush bit also makes a service choose a new name",
           proof=to_target("the denial is lost", dropped(response)))
def denied_without_flush(bench):
    return judge_denied(bench, flush=False)


def judge_denied(bench, flush):
    _, service = first_probe(bench)
    denial = bench.peer.tell(replace(service.rival, flush=flush))
    announcement, announced = bench.announced(within=8, since=denial.at)
    taken = bench.peer.heard(gives(service.instance, SRV))
    if taken:
        return failed("it announced the name that was denied", taken[0])
    return judge_spacing_of(bench, announced, announcement)


@criterion("RFC 6762 §8.1", "a response received before the first probe does not count as a denial", retried=3,
           proof=to_target("the response is repeated 0.4 s later", repeated(0.4, response)))
def stale_denial_ignored(bench):
    claim = Record(Name(["Lamp"]) + SERVICE_TYPE, SRV, 120, srv_data(Name(["rival"]) + LOCAL, 9), True)
    bench.plug_in()
    bench.start_alone()
    said, probe = None, None
    while probe is None and time.time() < bench.began + 12:
        said = bench.peer.tell(claim)
        time.sleep(0.05)
        probe = next(iter(bench.peer.heard(proposes(SRV, SERVICE_TYPE))), None)
    if probe is None:
        announcement, _ = bench.announced()
        return failed("announced without a probe that proposes its SRV record", announcement)
    if not probes_for(claim.name)(probe):
        return failed("it chose a new name before its first probe", probe)
    announcement, announced = bench.announced()
    if announced.instance.folded == claim.name.folded:
        return passed("it kept the name, which was claimed only before the first probe", announcement)
    # The last claim and the first probe may cross on the link, so a failure is tested again.
    return failed(f"it changed to {announced.instance}; its first probe was sent {(probe.at - said.at) * 1000:.0f} ms after "
                  "the last claim", announcement)


@criterion("RFC 6762 §8.1, §9", "a host whose name is in use chooses a new name, and its services point to it",
           proof=to_target("the denial is lost", dropped(response)))
def host_name_denied(bench):
    denied_names = []

    def deny(packet):
        if not (packet.message and packet.message.is_probe):
            return
        for record in packet.message.authorities:
            if record.type == A and record.name.under(LOCAL):
                if not denied_names:
                    denied_names.append(record.name)
                if record.name.folded == denied_names[0].folded:
                    bench.peer.tell(replace(record, data=address_bytes("250.0.0.9"), flush=True))

    bench.plug_in()
    bench.peer.reflect = deny
    bench.start()
    announcement, announced = bench.announced()
    if not denied_names:
        return failed("the host name is not probed", announcement)
    if announced.host.folded == denied_names[0].folded:
        return failed(f"it is still {announced.host}", announcement)
    probes = bench.peer.heard(probes_for(announced.host), until=announcement.at)
    if len(probes) < 3:
        return failed(f"the new host name {announced.host} was probed {len(probes)} times", announcement)
    return passed(f"the host became {announced.host}, after {len(probes)} probes", announcement)


@criterion("RFC 6762 §8.1", "after 15 conflicts within 10 s each further attempt waits 5 s", seconds=32,
           proof=from_target("each probe is repeated after 2 s", repeated(2, probe)))
def conflict_limit(bench):
    return judge_conflict_limit(bench, flush=True)


@criterion("RFC 6762 §8.1", "denials without the cache-flush bit also count towards the limit of 15 conflicts", seconds=32,
           proof=from_target("each probe is repeated after 2 s", repeated(2, probe)))
def conflict_limit_without_flush(bench):
    return judge_conflict_limit(bench, flush=False)


def judge_conflict_limit(bench, flush):
    tries = []  # The first probe of each attempt. An attempt has a new name, or an earlier name after a pause of more than 0.6 s.
    last = {}

    def deny(packet):
        if not (packet.message and packet.message.is_probe):
            return
        for record in packet.message.authorities:
            if record.type == SRV and record.name.under(SERVICE_TYPE):
                if packet.at - last.get(record.name.folded, 0) > 0.6:
                    tries.append(packet)
                last[record.name.folded] = packet.at
                service = bench.service(packet)
                bench.peer.tell(replace(service.rival, name=record.name, flush=flush))

    bench.plug_in()
    bench.peer.reflect = deny
    first_probe(bench)
    end = bench.began + 30
    bench.peer.first(lambda _: False, 30, bench.began)
    tries = [packet for packet in tries if packet.at < end]
    announced = bench.peer.heard(tells(SRV, SERVICE_TYPE), until=end)
    if announced:
        return failed(f"it announced a name although every name was denied, after {len(tries)} attempts", announced[0])
    for first, fifteenth, after in zip(tries, tries[14:], tries[15:]):
        if fifteenth.at - first.at <= 10 and after.at - fifteenth.at < 4.9:
            return failed(f"after 15 conflicts in {fifteenth.at - first.at:.1f} s the next attempt was made "
                          f"{after.at - fifteenth.at:.2f} s later", after)
    if len(tries) < 3:
        return unjudged(f"it tried only {len(tries)} times in 30 s")
    slowest = max(after.at - before.at for before, after in zip(tries, tries[1:]))
    return passed(f"{len(tries)} attempts in 30 s, the longest pause {slowest:.1f} s", tries[-1])
