"""Negative answers (RFC 6762 section 6.1)."""

from dataclasses import replace

from conformance.alterations import from_target, records, without
from conformance.conditions import gives, record_in
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.records import A, AAAA, MX, NSEC, SRV, TXT, type_name

WITHOUT_NSEC = from_target("NSEC records are lost", records(without(NSEC)))


def denial_of(bench, name, kind):
    """Returns the NSEC record that answers a question for a record that does not exist, and its packet."""
    asked = bench.peer.ask((name, kind))
    answer = bench.peer.first(gives(name, NSEC), 1, asked)
    if answer is None:
        # Section 6.1 allows a responder to ignore only names that it does not own.
        raise failed(f"no NSEC record in answer to {name} {type_name(kind)}", asked)
    return record_in(answer, name, NSEC), answer


def judge_denial(record, answer, present):
    next_name, types = record.next_and_types
    if next_name.folded != record.name.folded:
        return failed(f"the next name is {next_name}, not the record's own", answer)
    missing = present - types
    if missing:
        return failed(f"it denies {', '.join(map(type_name, missing))}, which exists", answer)
    if types - present:
        # The NSEC bit must not be set either; it distinguishes the NSEC records of unicast DNS.
        return failed(f"it lists {', '.join(map(type_name, types - present))}, which does not exist", answer)
    return passed(f"NSEC with {', '.join(map(type_name, sorted(types)))}", answer)


@criterion("RFC 6762 §6.1", "a query for a type that the service name does not have is answered with NSEC", seconds=16,
           proof=WITHOUT_NSEC)
def service_type_denied(bench):
    service = bench.settled()
    return judge_denial(*denial_of(bench, service.instance, MX), {SRV, TXT})


@criterion("RFC 6762 §6.1", "a query for a type that the host name does not have is answered with NSEC",
           seconds=16, proof=WITHOUT_NSEC)
def host_type_denied(bench):
    service = bench.settled()
    present = {record.type for packet in bench.peer.heard(gives(service.host, None), family=None)
               for record in packet.message.records if record.name.folded == service.host.folded
               and record.type in (A, AAAA)}
    record, answer = denial_of(bench, service.host, MX)
    # The host name may have records of other types; HINFO occurs in practice.
    return judge_denial(record, answer, present | (record.next_and_types[1] - {A, AAAA, MX}))


@criterion("RFC 6762 §6.1", "NSEC records have the cache-flush bit and the TTL of the records that they describe",
           seconds=16, worst=WARN, proof=from_target("NSEC records have a TTL of one day", records(
               lambda record: replace(record, ttl=86400, flush=False) if record.type == NSEC else record)))
def denial_form(bench):
    service = bench.settled()
    record, answer = denial_of(bench, service.instance, MX)
    if not record.flush:
        return warned("without the cache-flush bit", answer)
    if record.ttl not in (120, 4500):
        return warned(f"its TTL is {record.ttl} s; the denied records would have 120 or 4500 s", answer)
    return passed(f"cache-flush bit, {record.ttl} s", answer)
