"""Unicast answers: the QU bit, queries to the unicast address, and resolvers that do not support multicast DNS (RFC
6762 sections 5.4, 5.5, 6.7)."""

from dataclasses import replace

from conformance.alterations import (
    Alteration, delayed, dropped, from_target, query, readdressed, records, rewritten, to_target, unicast, with_flush, with_ttl)
from conformance.bench import SERVICE_TYPE
from conformance.conditions import gives, is_response
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.frames import GROUP_MACS, GROUPS
from conformance.records import PTR, SRV, TXT

from conformance.criteria.answering import expect
from conformance.criteria.timing import delays

RESOLVER_PORT = 40000  # A resolver that supports only unicast DNS asks from a port other than 5353.
TO_GROUP = readdressed(unicast, destination=GROUPS[4], destination_mac=GROUP_MACS[4])


@criterion("RFC 6762 §5.4", "a question with the QU bit is answered by unicast", seconds=16, worst=WARN,
           proof=from_target("the answer is sent to the group", TO_GROUP))
def unicast_wanted(bench):
    service = bench.settled()
    expect(bench, (service.instance, TXT))  # Makes the target multicast the record now.
    bench.pause()
    answer = expect(bench, (service.instance, TXT), unicast=True)
    if answer.is_multicast:
        return warned("the answer was multicast", answer)
    return passed(f"answered only to {answer.destination}", answer)


@criterion("RFC 6762 §5.4, §6", "a unicast answer with shared records is also sent after 20 to 120 ms", seconds=30,
           worst=WARN, retried=1, proof=from_target("unicast answers are delayed by 100 ms", delayed(0.1, unicast)))
def unicast_spread(bench):
    bench.settled()
    answers = delays(bench, (SERVICE_TYPE, PTR), 12, unicast=True)
    first, last = answers[0][0], answers[-2][0]
    told = f"{first:.0f} to {last:.0f} ms, {len(answers)} answers"
    # If the delays are uniform from 20 to 120 ms, fewer than one run in a hundred begins above 80 ms or ends below 60 ms.
    if first < 19 or first > 80 or not 60 <= last <= 135:
        return warned(told, answers[0 if first < 19 else -1][1])
    return passed(told, answers[-1][1])


@criterion("RFC 6762 §5.4, §8.1",
           "a probe with the QU bit is answered by unicast, even just after a multicast of the record",
           seconds=18, worst=WARN, proof=from_target("the answer is sent to the group", TO_GROUP))
def prober_answered(bench):
    service = bench.settled()
    expect(bench, (service.instance, SRV))
    rival = bench.peer.probe(service.rival)
    answer = bench.peer.first(
        lambda packet: not packet.is_multicast and gives(service.instance, SRV)(packet), 0.25, rival)
    if answer is None:
        return warned("no unicast answer within 250 ms", rival)
    return passed(f"answered to {answer.destination} after {(answer.at - rival.at) * 1000:.0f} ms", answer)


@criterion("RFC 6762 §5.4", "a question with the QU bit is answered by multicast if the last multicast is too old",
           seconds=55, worst=WARN, proof=from_target("no answer goes to the group", dropped(
               lambda packet: is_response(packet) and packet.is_multicast, keeping=lambda number: number < 8)))
def unicast_refreshes(bench):
    service = bench.settled()
    bench.peer.quiet(31, 60)  # More than a quarter of 120 s, the TTL of SRV records.
    asked = bench.peer.ask((service.instance, SRV), unicast=True)
    multicast = bench.peer.first(
        lambda packet: packet.is_multicast and gives(service.instance, SRV)(packet), 1, asked)
    if multicast is None:
        answer = bench.peer.first(gives(service.instance, SRV), 1, asked)
        return warned("not multicast, although the last multicast was more than a quarter of its TTL ago", answer or asked)
    return passed("multicast, because the last multicast was more than a quarter of its TTL ago", multicast)


@criterion("RFC 6762 §5.5", "a query sent to the unicast address is answered", seconds=16, worst=WARN,
           proof=to_target("queries to its own address are lost", dropped(
               lambda packet: query(packet) and not packet.is_multicast)))
def asked_directly(bench):
    service = bench.settled()
    announcement = bench.peer.heard(is_response)[-1]
    asked, answer = bench.answer((service.instance, TXT), to=(announcement.source, announcement.source_mac))
    if answer is None:
        return warned("no answer within 1 s", asked)
    return passed(f"answered to {answer.destination}", answer)


def legacy(bench, question):
    """Returns the answer to a resolver that asks from its own port, with id 4242."""
    asked, answer = bench.answer(question, port=RESOLVER_PORT, identity=4242)
    if answer is None:
        raise failed("no answer within 1 s to a query from a different port", asked)
    return answer


@criterion("RFC 6762 §6.7", "a query from a port other than 5353 gets a unicast answer with its id and question",
           seconds=16, proof=from_target("the answer has id 0", rewritten(lambda message: replace(message, id=0), unicast)))
def legacy_answered(bench):
    service = bench.settled()
    answer = legacy(bench, (service.instance, SRV))
    if answer.is_multicast or answer.destination_port != RESOLVER_PORT:
        return failed(f"the answer went to {answer.destination} port {answer.destination_port}", answer)
    if answer.message.id != 4242:
        return failed(f"the answer has id {answer.message.id}, not 4242", answer)
    if [(question.name.folded, question.type) for question in answer.message.questions] != \
            [(service.instance.folded, SRV)]:
        return failed("the answer does not repeat the question", answer)
    return passed(f"answered to port {RESOLVER_PORT} with id and question", answer)


@criterion("RFC 6762 §6.7", "an answer to a legacy resolver has no cache-flush bit", seconds=16,
           proof=from_target("the cache-flush bit is set", records(with_flush(True), unicast)))
def legacy_no_flush(bench):
    service = bench.settled()
    answer = legacy(bench, (service.instance, SRV))
    for record in answer.message.records:
        if record.flush:
            return failed(f"the record of {record.name} has the bit", answer)
    return passed("no record has the bit", answer)


@criterion("RFC 6762 §6.7", "an answer to a legacy resolver has a TTL of at most 10 s", seconds=16, worst=WARN,
           proof=from_target("the TTL is 120 s", records(with_ttl(120), unicast)))
def legacy_lives_shortly(bench):
    bench.settled()
    answer = legacy(bench, (SERVICE_TYPE, PTR))
    longest = max(record.ttl for record in answer.message.records)
    return (passed if longest <= 10 else warned)(f"the longest TTL is {longest} s", answer)


@criterion("RFC 6762 §5.5, §11", "a query from outside the link is not answered", seconds=16, worst=WARN, proof=Alteration(
    "the query's sender is replaced by an address on the link",
    to_target=readdressed(query, source="10.9.0.2")))
def off_link_ignored(bench):
    service = bench.settled()
    announcement = bench.peer.heard(is_response)[-1]
    asked = bench.peer.ask((service.instance, TXT), to=(announcement.source, announcement.source_mac),
                           source="192.0.2.7")
    answer = bench.peer.first(gives(service.instance, TXT), 1, asked)
    if answer:
        return warned("it answered 192.0.2.7", answer)
    return passed("no answer to 192.0.2.7, which is not on one of its links", asked)
