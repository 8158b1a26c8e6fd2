"""Two hosts that probe for the same name at the same time (RFC 6762 section 8.2)."""

from conformance.alterations import dropped, query, records, response, to_target, with_port
from conformance.bench import LOCAL, SERVICE_TYPE
from conformance.conditions import probes_for, proposes
from conformance.criterion import criterion, failed, passed, warned
from conformance.records import SRV, TXT, Name, Record, srv_data


def first_probe(bench):
    """Starts the target and waits for its first probe. Returns the packet and the service that it proposes."""
    bench.start()
    packet = bench.peer.first(proposes(SRV, SERVICE_TYPE), 12, bench.began)
    if packet is None:
        announcement, _ = bench.announced()
        raise failed("announced without a probe that proposes its SRV record", announcement)
    return packet, bench.service(packet)


def lesser(service):
    """Returns records of a rival that lose the tiebreak: TXT records are compared before SRV records, and an empty TXT record is the least."""
    return [Record(service.instance, TXT, 4500, b"\0")]


def greater(record):
    return Record(record.name, SRV, record.ttl, b"\xff" + srv_data(Name(["rival"]) + LOCAL, 9)[1:]) \
        if record.type == TXT else record


def judge_kept(bench, service, first, what):
    announcement, announced = bench.announced()
    probes = bench.peer.heard(probes_for(service.instance), since=0, until=announcement.at)
    gaps = [after.at - before.at for before, after in zip(probes, probes[1:])]
    if announced.instance != service.instance:
        return failed(f"{what}, but it is {announced.instance} now", announcement)
    if announcement.at - first.at > 1.3:
        return failed(f"{what}, but it was announced only {announcement.at - first.at:.2f} s after the first probe",
                      announcement)
    if len(probes) < 3 or min(gaps) < 0.15:
        return failed(f"{len(probes)} probes, at least {min(gaps, default=0) * 1000:.0f} ms apart", announcement)
    return passed(f"{what}: {len(probes)} probes at least {min(gaps) * 1000:.0f} ms apart, name kept", announcement)


@criterion("RFC 6762 §8.2", "the winner of a tiebreak keeps its name, with three probes 150 ms apart or more", retried=1,
           proof=to_target("the rival's records become greater ones", records(greater, query)))
def tiebreak_won(bench):
    first, service = first_probe(bench)
    bench.peer.probe(*lesser(service))
    return judge_kept(bench, service, first, "the rival's records are less")


@criterion("RFC 6762 §8.2", "its own probes, echoed by the link, do not count as a rival", retried=1,
           proof=to_target("the echo has a different port", records(with_port(0xFFFF))))
def own_probes_echoed(bench):
    def echo(packet):
        if packet.message and packet.message.is_probe and packet.family == 4:
            bench.peer.send(packet.payload, host=3)

    bench.plug_in()
    bench.peer.reflect = echo
    first, service = first_probe(bench)
    return judge_kept(bench, service, first, "no other host was probing")


@criterion("RFC 6762 §8.2", "the loser of a tiebreak waits one second and probes again", seconds=6,
           proof=to_target("the rival's probe is lost", dropped(query)))
def tiebreak_lost(bench):
    _, service = first_probe(bench)
    rival = bench.peer.probe(service.rival)
    again = bench.peer.first(proposes(SRV, SERVICE_TYPE), 5, rival.at + 0.02)
    if again is None:
        return failed("it lost, and did not probe again within 5 s", None)
    waited = again.at - rival.at
    if not probes_for(service.instance)(again):
        return warned(f"it lost, and chose a new name after {waited:.2f} s instead of waiting", again)
    if waited < 0.95:
        return failed(f"it lost, and continued to probe after {waited:.2f} s", again)
    announcement, announced = bench.announced()
    probes = bench.peer.heard(probes_for(service.instance), since=again.at - 0.01, until=announcement.at)
    if announced.instance != service.instance or len(probes) < 3:
        return failed(f"the rival never claimed the name, but it is {announced.instance} after {len(probes)} probes", announcement)
    if waited > 1.5:
        return warned(f"it waited {waited:.2f} s", again)
    return passed(f"it waited {waited:.2f} s, probed {len(probes)} times and kept the unclaimed name", again)


@criterion("RFC 6762 §8.2", "the loser of a tiebreak chooses a new name when the winner answers", seconds=6,
           proof=to_target("the winner's answers are lost", dropped(response)))
def tiebreak_lost_for_good(bench):
    _, service = first_probe(bench)
    rival = bench.peer.probe(service.rival)

    def defend(packet):
        if packet.message and probes_for(service.instance)(packet):
            bench.peer.tell(service.rival)

    bench.peer.reflect = defend
    announcement, announced = bench.announced(within=8, since=rival.at)
    if announced.instance.folded == service.instance.folded:
        return failed("it announced the name that the winner holds", announcement)
    return judge_spacing_of(bench, announced, announcement)


def judge_spacing_of(bench, service, announcement):
    probes = bench.peer.heard(probes_for(service.instance), until=announcement.at)
    if len(probes) < 3:
        return failed(f"the new name {service.instance} was probed {len(probes)} times", announcement)
    return passed(f"it became {service.instance}, after {len(probes)} probes", announcement)
