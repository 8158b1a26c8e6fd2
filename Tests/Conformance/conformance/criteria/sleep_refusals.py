"""Registrations that a sleep proxy must refuse, because the protocol has no authentication."""

from conformance import updates
from conformance.alterations import rewritten, with_flags
from conformance.conditions import record_in
from conformance.criterion import criterion, failed, passed, warned
from conformance.frame_alterations import from_target
from conformance.bench import LOCAL
from conformance.messages import RCODE
from conformance.records import A, SRV, Name, Record, address_bytes, srv_data
from conformance.sleep_bench import ADDRESS, CARD, HOST, INSTANCE, RIVAL, sleeper_records

from conformance.criteria.sleep_registration import answer_to_update

ACCEPTED = from_target("refusals are changed to success", rewritten(with_flags(off=RCODE), answer_to_update))
QUERY, NOTIFY = 0, 4 << 11


def refused(bench, what, *arguments, **how):
    """Sends a registration that must be refused and whose records must not be published, and returns the verdict."""
    sent, answer = bench.send_registration(*arguments, **how)
    if answer and updates.response_code(answer.message) == updates.SUCCESS:
        raise failed(f"{what} was accepted", answer)
    _, told = bench.asked(INSTANCE, SRV, within=0.5)
    if told and record_in(told, INSTANCE, SRV):
        raise failed(f"{what} was published", told)
    if answer is None:
        raise warned(f"{what} was not answered within 3 s", sent)
    return passed(f"refused with code {updates.response_code(answer.message)}", answer)


@criterion("draft-cheshire-edns0-owner-option", "a registration without the Owner option is refused", seconds=4, proof=ACCEPTED)
def owner_missing(bench):
    bench.serve()
    return refused(bench, "a registration without an owner", options=(updates.lease(3600),))


@criterion("RFC 9664 §4", "a registration without a lease, or with a lease of 0 s, is refused", seconds=5, proof=ACCEPTED)
def lease_missing(bench):
    bench.serve()
    refused(bench, "a registration without a lease", options=(updates.owner(CARD, 1),))
    return refused(bench, "a lease of 0 s", options=(updates.lease(0), updates.owner(CARD, 1)))


@criterion("RFC 2136 §2.2", "a query and a notification at the port for registrations are refused", seconds=5, proof=ACCEPTED)
def other_operation(bench):
    bench.serve()
    refused(bench, "a query", flags=QUERY)
    return refused(bench, "a notification", flags=NOTIFY)


@criterion("practice", "an address of another host, of the proxy itself or of another network is refused", seconds=6, proof=ACCEPTED)
def foreign_address(bench):
    bench.serve()
    for address, whose in ((bench.peer.ipv4(RIVAL), "another host"), (bench.address, "the proxy"), ("10.200.0.9", "another network")):
        verdict = refused(bench, f"an address of {whose}", sleeper_records(addresses=(ADDRESS, address)))
    return verdict


@criterion("practice", "a registration for the card of another host is refused", seconds=5, proof=ACCEPTED)
def foreign_card(bench):
    bench.serve()
    return refused(bench, "a different card", card=bench.peer.mac(RIVAL))


def claimed_by_rival(bench):
    """Another host announces the host name and the service, and answers probes for them."""
    rival = bench.peer.ipv4(RIVAL)

    def announce(packet=None):
        if packet is None or (packet.message and packet.message.is_probe):
            bench.peer.tell(
                Record(HOST, A, 120, address_bytes(rival), True), Record(INSTANCE, SRV, 120, srv_data(HOST, 80), True),
                host=RIVAL, source=rival)
    bench.peer.reflect = announce
    announce()
    bench.pause(0.3)


@criterion("practice", "a host name or a service name that another host announced is refused", seconds=6, proof=ACCEPTED)
def foreign_name(bench):
    bench.serve()
    claimed_by_rival(bench)
    refused(bench, "a foreign host name", sleeper_records(instance=Name(["Other", *INSTANCE[1:]])))
    return refused(bench, "a foreign service name", sleeper_records(host=Name(["other"]) + LOCAL))


@criterion("practice", "a registration with an older sequence number is refused", seconds=5, proof=ACCEPTED)
def older_sequence(bench):
    bench.serve()
    bench.register(sleeper_records(instance=Name(["Other", *INSTANCE[1:]])), sequence=5)
    return refused(bench, "an older sequence number", sequence=4)
