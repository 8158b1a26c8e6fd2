"""Questions and their answers (RFC 6762 section 6)."""

from dataclasses import replace

from conformance.alterations import (
    dropped, from_target, query, records, response, rewritten, split, to_target, without)
from conformance.bench import ENUMERATION, LOCAL, SERVICE_TYPE
from conformance.conditions import gives, is_response
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.records import A, ANY, PTR, SRV, TXT, Name, Question, type_name


def expect(bench, question, **how):
    """Returns the answer to a question, or raises a failure."""
    asked, answer = bench.answer(question, **how)
    if answer is None:
        raise failed(f"no answer to {question[0]} {type_name(question[1])} within 1 s", asked)
    return answer


@criterion("RFC 6762 §6", "queries for PTR, SRV, TXT and A are answered", seconds=18,
           proof=from_target("answers with TXT first are lost", dropped(lambda packet: response(packet) and (
               packet.message.answers[:1] and packet.message.answers[0].type == TXT))))
def answers(bench):
    service = bench.settled()
    for question in ((SERVICE_TYPE, PTR), (service.instance, SRV), (service.instance, TXT), (service.host, A)):
        answer = expect(bench, question)
        if not gives(*question, only_answers=True)(answer):
            return failed("the record is not in the Answer section", answer)
        bench.pause()
    return passed("all four answered", answer)


@criterion("RFC 6762 §6.5", "a query for type ANY is answered with every record of the name", seconds=16,
           proof=from_target("TXT records are lost", records(without(TXT))))
def answers_any(bench):
    service = bench.settled()
    asked = bench.peer.ask((service.instance, ANY))
    answer = bench.peer.first(gives(service.instance, None, only_answers=True), 1, asked)
    if answer is None:
        return failed("no answer within 1 s", asked)
    for kind in (SRV, TXT):
        if not gives(service.instance, kind, only_answers=True)(answer):
            return failed(f"the answer has no {type_name(kind)} record", answer)
    return passed("SRV and TXT in one answer", answer)


@criterion("RFC 6762 §6.3", "every question of a query is answered", seconds=16,
           proof=to_target("only the first question arrives", rewritten(
               lambda message: replace(message, questions=message.questions[:1]), query)))
def several_questions(bench):
    service = bench.settled()
    questions = ((service.instance, SRV), (service.instance, TXT), (service.host, A))
    asked = bench.peer.ask(*questions)
    bench.peer.first(lambda _: False, 1, asked)
    for question in questions:
        given = bench.peer.heard(gives(*question), since=asked.at)
        if not given:
            return failed(f"{type_name(question[1])} was not answered", asked)
    return passed("all three questions answered", given[0])


@criterion("RFC 6762 §6.4", "answers to two queries in quick succession are sent in one packet", worst=WARN, seconds=16,
           proof=from_target("each answer is sent in a separate packet", split(response)))
def aggregated(bench):
    bench.settled()
    asked = bench.peer.ask((SERVICE_TYPE, PTR))
    bench.peer.ask((ENUMERATION, PTR))
    bench.peer.first(lambda _: False, 1, asked)
    given = [bench.peer.heard(gives(name, PTR, only_answers=True), since=asked.at) for name in (SERVICE_TYPE, ENUMERATION)]
    if not all(given):
        return failed("a question was not answered", asked)
    if given[0][0] != given[1][0]:
        return warned("the answers came in two packets", given[1][0])
    return passed("both answers in one packet", given[0][0])


@criterion("RFC 6763 §12.1, §12.2", "a PTR answer adds SRV, TXT and address records, an SRV answer adds the address",
           worst=WARN, seconds=16, proof=from_target("additional records are lost", rewritten(
               lambda message: replace(message, additionals=()), response)))
def additionals(bench):
    service = bench.settled()
    answer = expect(bench, (SERVICE_TYPE, PTR))
    for question in ((service.instance, SRV), (service.instance, TXT), (service.host, A)):
        if not gives(*question)(answer):
            return warned(f"PTR without {type_name(question[1])}", answer)
    bench.pause()
    answer = expect(bench, (service.instance, SRV))
    if not gives(service.host, A)(answer):
        return warned("SRV without the address", answer)
    return passed("PTR adds SRV, TXT and A; SRV adds A", answer)


@criterion("RFC 6762 §6", "queries for names of other hosts are not answered", seconds=16, proof=to_target(
    "the question is replaced by one that it can answer", rewritten(
        lambda message: replace(message, questions=(Question(SERVICE_TYPE, PTR),)), query)))
def silent_for_strangers(bench):
    bench.settled()
    asked = bench.peer.ask(
        (Name(["Stranger"]) + SERVICE_TYPE, SRV), (Name(["stranger"]) + LOCAL, A), (Name(["_other", "_tcp"]) + LOCAL, PTR))
    said = bench.peer.first(is_response, 1.5, asked)
    if said:
        return failed("it answered", said)
    return passed("no answer within 1.5 s", asked)


@criterion("RFC 6762 §6", "answers go to the multicast group unless the query requests unicast", seconds=16,
           proof=to_target("questions get the QU bit", rewritten(
               lambda message: replace(message, questions=tuple(
                   replace(question, unicast=True) for question in message.questions)), query)))
def answers_by_multicast(bench):
    service = bench.settled()
    answer = expect(bench, (service.instance, TXT))
    if not answer.is_multicast:
        return failed(f"the answer went to {answer.destination}", answer)
    return passed("the answer was multicast", answer)
