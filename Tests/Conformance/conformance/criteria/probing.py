"""Probing before a name is used (RFC 6762 section 8.1)."""

from dataclasses import replace

from conformance.alterations import Alteration, dropped, from_target, probe, records, rewritten, without
from conformance.bench import SERVICE_TYPE
from conformance.conditions import gives, probes_for, record_in, tells
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.messages import RESPONSE, Message
from conformance.records import A, AAAA, ANY, PTR, SRV, Question, type_name


def probes_before(bench, name_of=lambda service: service.instance):
    """Returns the first response about a name of the service, and the probes for that name before it."""
    bench.start()
    announcement, service = bench.announced()
    name = name_of(service)
    # A responder may have claimed its host name before it had a service.
    announcement = bench.peer.heard(gives(name, None))[0] if bench.peer.heard(gives(name, None)) else announcement
    probes = bench.peer.heard(probes_for(name), until=announcement.at)
    if not probes:
        raise failed(f"{name} was announced without a probe", announcement)
    return announcement, probes


def judge_spacing(probes, announcement):
    """Fails with fewer than three probes or a gap of less than 150 ms, and warns about a gap outside of 240 to 400 ms. The
    last gap is between the last probe and the announcement."""
    times = [packet.at for packet in probes] + [announcement.at]
    gaps = [round((after - before) * 1000) for before, after in zip(times, times[1:])]
    told = f"{len(probes)} probes, each followed after {', '.join(map(str, gaps))} ms"
    if len(probes) < 3 or min(gaps) < 150:
        return failed(told, probes[-1])
    if min(gaps) < 240 or max(gaps) > 400:
        return warned(f"{told}; 250 ms is expected", probes[-1])
    return passed(told, probes[-1])


@criterion("RFC 6762 §8.1", "the service's name is probed three times, 250 ms apart, before it is announced", retried=1,
           proof=from_target("the second probe is lost", dropped(
               lambda packet: probe(packet) and packet.family == 4, keeping=lambda number: number != 2)))
def three_probes(bench):
    announcement, probes = probes_before(bench)
    return judge_spacing(probes, announcement)


@criterion("RFC 6762 §8.1", "the host name is also probed", retried=1,
           proof=from_target("probes do not propose addresses", records(without(A, AAAA), probe)))
def host_name_probed(bench):
    announcement, probes = probes_before(bench, lambda service: service.host)
    return judge_spacing(probes, announcement)


@criterion("RFC 6762 §8.2", "every probe proposes its records in the Authority section",
           proof=from_target("probes come without the SRV record", records(without(SRV), probe)))
def probes_propose(bench):
    bench.start()
    announcement, service = bench.announced()
    asking = bench.peer.heard(
        lambda packet: not packet.message.is_response and packet.message.questions
        and any(question.name.folded == service.instance.folded for question in packet.message.questions),
        until=announcement.at)
    if not asking:
        return failed(f"{service.instance} was announced without a probe", announcement)
    for packet in asking:
        proposed = record_in(packet, service.instance, SRV)
        if proposed is None or proposed not in packet.message.authorities:
            return failed("a probe without the SRV record in its Authority section", packet)
        if proposed.data != service.srv.data:
            return failed("a probe proposes a different SRV record than the announcement", packet)
    return passed(f"{len(asking)} probes, each with the SRV record that is announced", asking[0])


def probe_questions(bench):
    _, probes = probes_before(bench)
    return [(packet, question) for packet in probes for question in packet.message.questions]


@criterion("RFC 6762 §8.1", "probes ask for any type", worst=WARN,
           proof=from_target("probes ask for SRV", rewritten(
               lambda message: replace(message, questions=tuple(
                   Question(question.name, SRV, question.unicast) for question in message.questions)), probe)))
def probes_ask_for_any(bench):
    for packet, question in probe_questions(bench):
        if question.type != ANY:
            return warned(f"a probe asks for type {type_name(question.type)}", packet)
    return passed("every probe asks for type ANY", packet)


@criterion("RFC 6762 §8.1", "probes request a unicast answer", worst=WARN,
           proof=from_target("probes have no QU bit", rewritten(
               lambda message: replace(message, questions=tuple(
                   Question(question.name, question.type) for question in message.questions)), probe)))
def probes_want_unicast(bench):
    # Only the first probe is tested, because a responder may request multicast answers in later probes.
    packet, question = probe_questions(bench)[0]
    if not question.unicast:
        return warned("the first probe has no QU bit", packet)
    return passed("the first probe has the QU bit", packet)


@criterion("RFC 6762 §8.1", "the responder neither announces nor answers while it probes", proof=from_target(
    "probes become responses", rewritten(
        lambda message: Message(0, RESPONSE, (), message.authorities), probe)))
def silent_while_probing(bench):
    bench.start()
    first = bench.peer.first(lambda packet: packet.message.is_probe or packet.message.is_response, 12, bench.began)
    if first is None or first.message.is_response:
        return failed("announced without a probe", first)
    asked = bench.peer.ask((SERVICE_TYPE, PTR))
    told = bench.peer.first(tells(SRV, SERVICE_TYPE), 0.4, asked)
    if told:
        return failed(f"answered {(told.at - first.at) * 1000:.0f} ms after its first probe", told)
    return passed("no answer to a question between its probes", asked)


def late(seconds):
    """Delays all packets of the target by that many seconds."""
    return lambda packet: [(seconds, packet)]


@criterion("RFC 6762 §8.1, §8.3", "the service is announced 0.75 to 1.0 s after registration", retried=1, worst=WARN,
           proof=Alteration("all its packets are delayed by 1.5 s", from_target=late(1.5)))
def announced_in_time(bench):
    bench.start()
    announcement, _ = bench.announced()
    seconds = announcement.at - bench.began
    told = f"announced {seconds:.2f} s after registration"
    if seconds < 0.74:
        return failed(f"{told}, which is too early for three probes", announcement)
    # The program's own start adds to the time.
    if seconds <= 1.15:
        return passed(told, announcement)
    return warned(f"{told}; probing takes at most 1.0 s", announcement)
