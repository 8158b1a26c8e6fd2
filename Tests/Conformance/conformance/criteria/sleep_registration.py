"""A sleep proxy's advertisement, and registrations that it accepts (RFC 2136, RFC 9664,
draft-cheshire-edns0-owner-option)."""

import re
from dataclasses import replace

from conformance import updates
from conformance.alterations import response, records, rewritten, with_flags
from conformance.criterion import criterion, failed, passed
from conformance.frame_alterations import from_target, mdns
from conformance.records import PTR, SRV, Name, srv_data
from conformance.sleep_bench import CARD, INSTANCE, PROXY_TYPE, REMOTE, TCP_PORT, sleeper_records

METRICS = re.compile(rb"([1-9]\d-){3}[1-9]\d(\.\d+)? .+", re.DOTALL)


def answer_to_update(frame):
    return mdns(lambda packet: response(packet) and updates.is_update(packet.message))(frame)


def without_metrics(record):
    """Replaces the name of the proxy by one without metrics."""
    bare = Name(["Lamp"]) + PROXY_TYPE
    if record.name.under(PROXY_TYPE):
        return replace(record, name=bare)
    return replace(record, data=bare.encoded) if record.type == PTR and record.target.under(PROXY_TYPE) else record


@criterion("practice", "it advertises _sleep-proxy._udp, with four metrics of two digits at the beginning of its name", seconds=4,
           proof=from_target("its name has no metrics", records(without_metrics, mdns(response))))
def proxy_advertised(bench):
    bench.serve()
    asked, told = bench.asked(PROXY_TYPE, PTR, within=2)
    if told is None:
        return failed("a question for its service type was not answered within 2 s", asked)
    instance = next(it.target for it in told.message.records if it.type == PTR and it.name.folded == PROXY_TYPE.folded)
    if not METRICS.fullmatch(instance[0]):
        return failed(f"the name {instance} does not begin with metrics", told)
    return passed(f"advertised as {instance}, port {bench.port}", told)


def granted(answer):
    """Returns the verdict on the lease in an answer."""
    data = updates.option_data(answer.message, updates.LEASE_OPTION)
    if data is None or len(data) not in (4, 8):
        return failed("no Update Lease option in the answer", answer)
    seconds = int.from_bytes(data[:4], "big")
    return passed(f"accepted for {seconds} s", answer) if seconds else failed("accepted for 0 s", answer)


@criterion("RFC 9664 §4, RFC 2136 §2.2", "a registration is answered with success, the same id and the granted lease", seconds=4,
           proof=from_target("the option in its answer is lost", rewritten(
               lambda message: replace(message, additionals=()), answer_to_update)))
def registration_accepted(bench):
    bench.serve()
    return granted(bench.register())


@criterion("RFC 9664 §4", "a registration with the form of Update Lease of eight bytes is accepted", seconds=4,
           proof=from_target("its answers are changed to a refusal", rewritten(
               with_flags(on=updates.REFUSED), answer_to_update)))
def long_lease_option(bench):
    bench.serve()
    return granted(bench.register(options=(updates.lease(3600, 7200), updates.owner(CARD, 1))))


def with_service_port(port):
    """Replaces the port of the computer's service over TCP."""
    def change(record):
        is_service = record.type == SRV and record.name.folded == INSTANCE.folded
        return replace(record, data=srv_data(record.target, port)) if is_service else record
    return change


@criterion("practice", "a registration with the next sequence number replaces the records of the previous one", seconds=8,
           proof=from_target("the SRV record has the previous port", records(with_service_port(TCP_PORT), mdns(response))))
def registration_renewed(bench):
    bench.serve()
    bench.register()
    bench.register(sleeper_records(port=TCP_PORT + 2)[:5], sequence=2)
    bench.fall_asleep()
    asked, told = bench.asked(INSTANCE, SRV)
    if told is None:
        return failed("the renewed service is not answered for", asked)
    port = next(it.port for it in told.message.records if it.type == SRV and it.name.folded == INSTANCE.folded)
    if port != TCP_PORT + 2:
        return failed(f"the port is {port}", told)
    _, old = bench.asked(REMOTE, SRV)
    return failed("a service without a renewal is still answered for", old) if old else passed("replaced", told)
