"""Suppressed answers (RFC 6762 sections 7.1, 7.2, 7.4)."""

from dataclasses import replace

from conformance.alterations import dropped, query, records, response, rewritten, to_target, with_ttl
from conformance.bench import SERVICE_TYPE
from conformance.conditions import gives
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.messages import TRUNCATED, Message
from conformance.records import PTR, Name, Record

from conformance.criteria.answering import expect

WITHOUT_KNOWN = to_target("known answers are lost", rewritten(lambda message: replace(message, answers=()), query))


def pointer(bench):
    """Requests the target's PTR record and returns it 1.1 s later, when the target may multicast it again."""
    service = bench.settled()
    answer = expect(bench, (SERVICE_TYPE, PTR))
    record = next(record for record in answer.message.records if record.type == PTR and record.target == service.instance)
    bench.pause()
    return record


def ask_knowing(bench, *known, **how):
    asked = bench.peer.ask((SERVICE_TYPE, PTR), known=known, **how)
    return asked, bench.peer.first(gives(SERVICE_TYPE, PTR), 1, asked)


@criterion("RFC 6762 §7.1", "a known answer with at least half of its TTL suppresses the answer", seconds=18,
           proof=WITHOUT_KNOWN)
def suppressed(bench):
    record = pointer(bench)
    for part in (1, 0.55):
        asked, answer = ask_knowing(bench, replace(record, ttl=int(record.ttl * part)))
        if answer:
            return failed(f"answered although known with a TTL of {int(record.ttl * part)} of {record.ttl} s", answer)
        bench.pause(0.3)
    return passed(f"no answer when it is known with a TTL of 100 % and of 55 % of {record.ttl} s", asked)


@criterion("RFC 6762 §7.1", "a known answer with less than half of its TTL does not suppress the answer", seconds=18,
           proof=to_target("known answers get a TTL of one day", records(with_ttl(86400), query)))
def stale_answered(bench):
    record = pointer(bench)
    left = int(record.ttl * 0.45)
    asked, answer = ask_knowing(bench, replace(record, ttl=left))
    if answer is None:
        return failed(f"no answer although known with a TTL of only {left} of {record.ttl} s", asked)
    return passed(f"answered when it is known with a TTL of {left} of {record.ttl} s", answer)


@criterion("RFC 6762 §7.1", "a different known record of the name does not suppress the answer", seconds=18, proof=to_target(
    "known answers are replaced by its record", records(
        lambda record: replace(record, data=record.data.replace(b"\5Other", b"\4Lamp")), query)))
def other_answered(bench):
    record = pointer(bench)
    asked, answer = ask_knowing(bench, Record(SERVICE_TYPE, PTR, record.ttl, (Name(["Other"]) + SERVICE_TYPE).encoded))
    if answer is None:
        return failed("no answer although only a different record is known", asked)
    return passed("answered", answer)


@criterion("RFC 6762 §7.2", "a known answer in a second packet suppresses the answer", seconds=18,
           proof=to_target("the second packet is lost", dropped(
               lambda packet: query(packet) and not packet.message.questions)))
def suppressed_across_packets(bench):
    record = pointer(bench)
    other = Record(SERVICE_TYPE, PTR, record.ttl, (Name(["Other"]) + SERVICE_TYPE).encoded)
    asked = bench.peer.ask((SERVICE_TYPE, PTR), known=(other,), flags=TRUNCATED)
    bench.peer.first(lambda _: False, 0.1, asked)
    bench.peer.send(Message(0, 0, (), (record,)))
    answer = bench.peer.first(gives(SERVICE_TYPE, PTR), 1.2, asked)
    if answer:
        return failed("answered although it was in the second packet", answer)
    return passed("no answer within 1.2 s", asked)


@criterion("RFC 6762 §7.4", "the same answer from another host suppresses the answer", seconds=18, worst=WARN,
           proof=to_target("the other host's answer is lost", dropped(response)))
def duplicate_suppressed(bench):
    record = pointer(bench)
    asked = bench.peer.ask((SERVICE_TYPE, PTR))
    bench.peer.tell(record, host=3)
    answer = bench.peer.first(gives(SERVICE_TYPE, PTR), 1, asked)
    if answer:
        return warned("it repeated the answer", answer)
    return passed("no answer, because another host sent it first", asked)
