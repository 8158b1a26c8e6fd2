"""DNS-based service discovery (RFC 6763)."""

from dataclasses import replace

from conformance.alterations import dropped, from_target, records
from conformance.bench import ENUMERATION, LOCAL, SERVICE_TYPE
from conformance.conditions import gives, record_in
from conformance.criterion import criterion, failed, passed, warned
from conformance.records import A, PTR, SRV, TXT, Name, address_bytes, address_text
from conformance.targets import PORT, SUBTYPE

from conformance.criteria.answering import expect


@criterion("RFC 6763 §9", "the service type is listed in the enumeration of service types", seconds=16, proof=from_target(
    "answers that list types are lost", dropped(
        lambda packet: gives(ENUMERATION, PTR)(packet) if packet.message else False)))
def types_listed(bench):
    bench.settled()
    answer = expect(bench, (ENUMERATION, PTR))
    targets = {record.target.folded for record in answer.message.answers if record.type == PTR}
    if SERVICE_TYPE.folded not in targets:
        return failed(f"{SERVICE_TYPE} is not listed", answer)
    return passed(f"{SERVICE_TYPE} is listed", answer)


@criterion("RFC 6763 §7.1", "a query for a subtype finds the instance", seconds=16, needs={"subtypes"}, proof=from_target(
    "the subtype's records are lost", records(
        lambda record: None if record.type == PTR and b"_sub" in record.name else record)))
def subtype(bench):
    service = bench.settled()
    answer = expect(bench, (Name([SUBTYPE, "_sub"]) + SERVICE_TYPE, PTR))
    pointer = next(record for record in answer.message.answers if record.type == PTR)
    if pointer.target.folded != service.instance.folded:
        return failed(f"it points to {pointer.target}", answer)
    return passed(f"it points to {pointer.target}", answer)


@criterion("RFC 6763 §6.1, §6.2, §6.4", "the TXT record has at least one string, each with a key, in at most 400 bytes",
           seconds=16, proof=from_target("the TXT record is empty", records(
               lambda record: replace(record, data=b"") if record.type == TXT else record)))
def txt_form(bench):
    service = bench.settled()
    answer = expect(bench, (service.instance, TXT))
    record = record_in(answer, service.instance, TXT)
    try:
        strings = record.strings
    except IndexError:
        return failed("a string continues beyond the end", answer)
    if not strings:
        return failed("no string; at least an empty one is required", answer)
    keys = [string.split(b"=")[0].lower() for string in strings if string]
    if any(not key or any(byte < 0x20 or byte > 0x7E for byte in key) for key in keys):
        return failed("a key is missing, or not printable ASCII", answer)
    if len(set(keys)) < len(keys):
        return warned("it contains a key twice", answer)
    if max(map(len, keys), default=0) > 9 or len(record.data) > 400:
        return warned("a key of more than 9 characters, or more than 400 bytes", answer)
    return passed(f"{len(strings)} strings, {len(record.data)} bytes", answer)


@criterion("RFC 6763 §5", "SRV contains the port and a host in .local with the interface's address", seconds=16,
           proof=from_target("the address is a different one", records(
               lambda record: replace(record, data=address_bytes("10.9.0.77")) if record.type == A else record)))
def resolves(bench):
    service = bench.settled()
    answer = expect(bench, (service.instance, SRV))
    srv = record_in(answer, service.instance, SRV)
    if srv.port != PORT or not srv.target.under(LOCAL):
        return failed(f"SRV contains {srv.target} port {srv.port}", answer)
    bench.pause()
    answer = expect(bench, (srv.target, A))
    addresses = {address_text(record.data) for record in answer.message.records
                 if record.type == A and record.name.folded == srv.target.folded}
    if addresses != {bench.host.address()}:
        return failed(f"{srv.target} is at {', '.join(sorted(addresses))}, but the host is at {bench.host.address()}", answer)
    return passed(f"{srv.target} port {srv.port} at {bench.host.address()}", answer)
