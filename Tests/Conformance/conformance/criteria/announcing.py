"""Announcements: their content, number and times (RFC 6762 sections 8.3, 10 and 10.2)."""

from conformance.alterations import (
    answering, dropped, from_target, holding, later, records, repeated, response, with_flush, with_ttl, without)
from conformance.bench import SERVICE_TYPE
from conformance.conditions import gives, is_response
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.records import A, AAAA, PTR, SRV, TXT, type_name

WATCHED = 140  # seconds: eight announcements at doubling intervals end after 127 s.


def rounds(packets):
    """Returns the first packet of each announcement. Packets within 0.25 s after it belong to the same announcement."""
    firsts = []
    for packet in packets:
        if not firsts or packet.at - firsts[-1].at > 0.25:
            firsts.append(packet)
    return firsts


def announcements(bench, within):
    bench.start()
    announcement, service = bench.announced()
    bench.peer.first(lambda _: False, within, announcement.at)
    return service, rounds(bench.peer.heard(gives(service.instance, SRV), until=announcement.at + within))


@criterion("RFC 6762 §8.3", "the service is announced at least twice, one second apart", retried=1,
           proof=from_target("only the first announcement is delivered",
                             dropped(holding(SRV), keeping=lambda number: number < 3)))
def announced_twice(bench):
    _, heard = announcements(bench, 3.5)
    if len(heard) < 2:
        return failed("announced only once within 3.5 s", heard[0])
    gap = heard[1].at - heard[0].at
    if gap < 0.95:
        return failed(f"announced again after {gap:.2f} s", heard[1])
    return (passed if gap < 1.3 else warned)(f"announced again after {gap:.2f} s", heard[1])


@criterion("RFC 6762 §8.3", "at most eight announcements, intervals doubling, then silence", seconds=WATCHED + 4, retried=1,
           proof=from_target("each announcement is repeated after 0.5 s", repeated(0.5, response)))
def announcements_end(bench):
    _, heard = announcements(bench, WATCHED)
    gaps = [after.at - before.at for before, after in zip(heard, heard[1:])]
    told = f"{len(heard)} announcements in {WATCHED} s, after {', '.join(f'{gap:.1f}' for gap in gaps)} s"
    if len(heard) > 8:
        return failed(told, heard[8])
    for index, (gap, following) in enumerate(zip(gaps, gaps[1:])):
        if following < 1.9 * gap:
            return (failed if following < 1.7 * gap else warned)(
                f"{told}: an interval is not twice the previous one", heard[index + 2])
    return passed(told, heard[-1])


@criterion("RFC 6762 §8.3", "the announcement contains PTR, SRV, TXT and address records",
           proof=from_target("TXT records are lost", records(without(TXT))))
def announced_whole(bench):
    service, told = announced_records(bench)
    wanted = {(SERVICE_TYPE.folded, PTR), (service.instance.folded, SRV), (service.instance.folded, TXT),
              (service.host.folded, A)}
    missing = wanted - {
        (record.name.folded, record.type) for packet, record in told if record in packet.message.answers}
    if missing:
        return failed(f"missing in the Answer section of all announcements: "
                      f"{', '.join(sorted(type_name(kind) for _, kind in missing))}", told[0][0])
    return passed("PTR, SRV, TXT and A were announced", told[0][0])


def announced_records(bench):
    """Returns the service, and all records of the responses until 0.8 s after the first announcement, each with its packet."""
    bench.start()
    announcement, service = bench.announced()
    bench.peer.first(lambda _: False, 0.8, announcement.at)
    return service, [(packet, record) for packet in bench.peer.heard(is_response) for record in packet.message.records]


@criterion("RFC 6762 §10.2", "unique records are announced with the cache-flush bit",
           proof=from_target("the cache-flush bit is cleared", records(with_flush(False))))
def unique_flush(bench):
    service, told = announced_records(bench)
    unique = [(packet, record) for packet, record in told if record.type in (SRV, TXT, A, AAAA)]
    for packet, record in unique:
        if not record.flush:
            return failed(f"{type_name(record.type)} of {record.name} without the bit", packet)
    return passed(f"{len(unique)} unique records, all with the bit", unique[0][0])


@criterion("RFC 6762 §10.2", "shared records never have the cache-flush bit",
           proof=from_target("the cache-flush bit is set on PTR records", records(with_flush(True, PTR))))
def shared_no_flush(bench):
    _, told = announced_records(bench)
    shared = [(packet, record) for packet, record in told if record.type == PTR and record.name.under(SERVICE_TYPE[1:])]
    if not shared:
        return failed("no PTR record was announced", told[0][0])
    for packet, record in shared:
        if record.flush:
            return failed(f"PTR of {record.name} with the bit", packet)
    return passed(f"{len(shared)} PTR records, none with the bit", shared[0][0])


@criterion("RFC 6762 §10", "records of the host have a TTL of 120 s, the others 4500 s", worst=WARN,
           proof=from_target("every record has a TTL of one hour", records(with_ttl(3600))))
def times_to_live(bench):
    _, told = announced_records(bench)
    for packet, record in told:
        wanted = {SRV: 120, A: 120, AAAA: 120, PTR: 4500, TXT: 4500}.get(record.type)
        # The PTR record that maps an address to a host name may have either TTL, so it is skipped.
        if wanted and record.ttl != wanted and not (record.type == PTR and not record.name.under(SERVICE_TYPE[1:])):
            return warned(f"{type_name(record.type)} has TTL {record.ttl} s, not {wanted} s", packet)
    return passed("120 s for SRV and addresses, 4500 s for PTR and TXT", told[0][0])


@criterion("RFC 6762 §8.3", "repeated announcements carry the same data",
           proof=from_target("the second announcement has different addresses",
                             records(without(A), later(0.5, answering(A)))))
def announcements_agree(bench):
    service, heard = announcements(bench, 3.5)
    if len(heard) < 2:
        return failed("announced only once within 3.5 s", heard[0])
    sets = []
    for first, last in ((heard[0], heard[0].at + 0.25), (heard[1], heard[1].at + 0.25)):
        packets = bench.peer.heard(is_response, since=first.at - 0.001, until=last)
        sets.append({record.key for packet in packets for record in packet.message.records if record.ttl
                     and record.type in (SRV, TXT, A)})
    if sets[0] != sets[1]:
        return failed("the second announcement differs from the first", heard[1])
    return passed(f"both contain the same {len(sets[0])} records", heard[1])
