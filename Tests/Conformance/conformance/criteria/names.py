"""Names: any UTF-8 text, compared without regard to letter case (RFC 6762 section 16, RFC 6763 section 4.1)."""

from dataclasses import replace

from conformance.alterations import dropped, from_target, records, rewritten, query, to_target
from conformance.bench import SERVICE_TYPE
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.records import PTR, SRV, Name, Question

from conformance.criteria.answering import expect

DIFFICULT = "Küche · Lampe"


@criterion("RFC 6762 §16", "a question in different letter case is answered", seconds=16, proof=to_target(
    "questions with capital letters in the type are lost", dropped(
        lambda packet: query(packet) and any(b"_SMARTPLUG" in question.name for question in packet.message.questions))))
def case_ignored(bench):
    service = bench.settled()
    other = Name([service.instance[0].upper() if service.instance[0].islower() else service.instance[0].lower(),
                  b"_SMARTPLUG", b"_Tcp", b"LOCAL"])
    answer = expect(bench, (other, SRV))
    return passed(f"{other} answered", answer)


@criterion("RFC 6762 §16", "a known answer in different letter case suppresses the answer", seconds=16, proof=to_target(
    "known answers are lost", rewritten(lambda message: replace(message, answers=()), query)))
def case_ignored_in_known_answers(bench):
    service = bench.settled()
    answer = expect(bench, (SERVICE_TYPE, PTR))
    record = next(record for record in answer.message.records if record.type == PTR and record.target == service.instance)
    bench.pause()
    capital = Name([b"_SMARTPLUG", b"_TCP", b"LOCAL"])
    known = replace(record, name=capital, data=(Name([service.instance[0]]) + capital).encoded)
    asked, answer = bench.answer((SERVICE_TYPE, PTR), known=(known,))
    if answer:
        return failed("answered although known in different letter case", answer)
    return passed("no answer", asked)


@criterion("RFC 6763 §4.1.1, RFC 6762 §16", "a name with any letters, spaces and symbols is sent unchanged", seconds=10,
           proof=from_target("letters that are not ASCII become question marks", records(
               lambda record: replace(
                   record, name=Name(bytes(byte if byte < 128 else 63 for byte in label) for label in record.name)))))
def any_letters(bench):
    bench.start(DIFFICULT)
    announcement, service = bench.announced()
    if service.instance[0] != DIFFICULT.encode():
        return failed(f"{DIFFICULT} became {service.instance[0].decode('utf-8', 'backslashreplace')}", announcement)
    return passed(f"{service.instance}", announcement)


@criterion("RFC 1034 §3.1", "an answer keeps the letter case of the instance name", seconds=16,
           worst=WARN, proof=from_target("names become lower case", records(
               lambda record: replace(record, data=record.data.lower()) if record.type == PTR else record)))
def case_kept(bench):
    service = bench.settled()
    asked = bench.peer.ask(Question(Name(label.upper() for label in SERVICE_TYPE), PTR))
    answer = bench.peer.first(
        lambda packet: packet.message.is_response and any(
            record.type == PTR and record.data.lower() == service.instance.encoded.lower()
            for record in packet.message.answers), 1, asked)
    if answer is None:
        return failed("no answer within 1 s", asked)
    pointer = next(record for record in answer.message.answers if record.type == PTR)
    if pointer.target[0] != service.instance[0]:
        return warned(f"the instance name's letter case changed to {pointer.target}", answer)
    return passed("answered with the instance name in its original letter case", answer)
