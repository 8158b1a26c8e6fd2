"""`plugctl browse --packets` prints the packets on the network, and writes them to a file for Wireshark."""

import pathlib
import sys
import time

from harness.avahi import Avahi
from harness.capture import Capture
from harness.noise import make_noise

DATAGRAM = pathlib.Path(__file__).parent / "harness" / "datagram_program.py"
# A response with one TXT record of the root name, whose string would turn a terminal's text red and set its title.
HOSTILE = bytes.fromhex("000084000000000100000000" "00" "0010" "8001" "00000078") + (
    lambda string: len(string).to_bytes(2, "big") + string)(b"\x14k=\x1b[31mred\x1b]0;x\x07 end")


def watching(lan, controller, *words):
    watcher = controller(lan.host()).packets(*words)
    noisy = lan.host()
    # The first printed packet shows that plugctl listens.
    deadline = time.monotonic() + 10
    while not watcher.lines:
        assert time.monotonic() < deadline, watcher.transcript()
        noisy.run(sys.executable, DATAGRAM, "00" * 12)
    return watcher


def holds(told, section, **wanted):
    return any(
        record["section"] == section and all(record[key] == value for key, value in wanted.items()) for record in told["records"])


def test_what_avahi_says_is_told_as_it_says_it(lan, controller):
    """Probe, announcement and goodbye of Avahi are printed with their records."""
    watcher = watching(lan, controller, "--json")
    host = lan.host()
    avahi = Avahi(host)
    avahi.publish("Küche", 4711, "id=00aa00aa00aa")
    name = "Küche._smartplug._tcp.local"
    probe = watcher.seen_object(
        lambda told: told["kind"] == "probe" and holds(told, "proposed", name=name, type="SRV"), 10, "a probe").json
    assert probe["interface"] == "eth0" and probe["port"] == 5353
    assert any(question == {"name": name, "type": "ANY", "unicast": False} for question in probe["questions"])
    announcement = watcher.seen_object(
        lambda told: told["kind"] == "response" and told["from"] == host.ipv4 and holds(told, "answer", name=name, type="SRV"),
        10, "an announcement").json
    assert holds(announcement, "answer", name=name, type="SRV", ttl=120, flush=True, data="host3.local port 4711")
    assert holds(announcement, "answer", name=name, type="TXT", ttl=4500, data="id=00aa00aa00aa")
    assert holds(announcement, "answer", name="_smartplug._tcp.local", type="PTR", flush=False, data=name)
    avahi.daemon.terminate()
    watcher.seen_object(
        lambda told: told["from"] == host.ipv4 and holds(told, "answer", name=name, type="SRV", ttl=0), 10, "a goodbye")


def test_a_query_and_what_is_known_already(lan, plug, controller):
    """A query, its answer and the next query's known answer are printed."""
    plug(lan.host(), "Lamp")
    watcher = watching(lan, controller)
    controller(lan.host()).browse().found("Lamp")
    watcher.seen(lambda line: line.text.startswith("    asks      PTR _smartplug._tcp.local"), 10, "the question")
    watcher.seen(
        lambda line: line.text.startswith("    answers   PTR _smartplug._tcp.local: Lamp._smartplug._tcp.local (1 h 15 min"),
        10, "the answer")
    # The browser repeats the question after a second, together with the answer that it knows.
    watcher.seen(
        lambda line: line.text.startswith("    knows     PTR _smartplug._tcp.local: Lamp._smartplug._tcp.local (1 h 1"), 10,
        "the known answer")


def test_it_says_nothing_itself(lan, controller):
    """`plugctl browse --packets` sends no packet."""
    host = lan.host()
    capture = Capture(host.port)
    done = controller(host).finish("browse", "--packets", "--for", "3s")
    capture.close()
    assert done.status == 0 and capture.datagrams == [] and done.output == "", done


def test_bytes_that_are_no_message(lan, controller):
    """A malformed packet is printed with its fault and the offset of the fault."""
    watcher = watching(lan, controller, "--json")
    noisy = lan.host()
    make_noise(noisy, "datagrams", "224.0.0.251", 5353, 200)
    told = watcher.seen_object(
        lambda told: told["kind"] == "malformed" and told["from"] == noisy.ipv4, 10, "a malformed packet").json
    assert told["fault"]["reason"] and 0 <= told["fault"]["offset"] <= told["bytes"]
    assert watcher.is_running


def test_what_would_control_the_terminal_is_taken_out(lan, controller):
    """Control characters in records are removed."""
    watcher = watching(lan, controller)
    lan.host().run(sys.executable, DATAGRAM, HOSTILE.hex())
    line = watcher.seen(lambda line: "k=" in line.text, 10, "the record")
    assert line.text == "    answers   TXT .: k=[31mred]0;x end (2 min, cache flush)"
    assert not any("\x1b" in line.text for line in watcher.lines)


def test_wireshark_reads_what_it_wrote(lan, plug, controller, tmp_path):
    """tshark reads the written file without errors, with the same packets that were printed."""
    trace = tmp_path / "house.pcap"
    # An existing file is replaced.
    trace.write_bytes(b"something else" * 100)
    person = controller(lan.host())
    watcher = person.packets("--json", "--write", trace, "--for", "6s")
    plug(lan.host(), "Lamp")
    controller(lan.host()).browse().found("Lamp")
    assert watcher.ended(15) == 0
    told = [line.json for line in watcher.lines if line.json]
    checks = ["-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]

    def tshark(*words):
        return person.host.finish("tshark", "-r", trace, *checks, *words, within=30).output.splitlines()

    read = [line.split("\t") for line in tshark("-T", "fields", "-e", "ip.src", "-e", "ipv6.src", "-e", "dns.flags.response")]
    assert len(told) > 5
    assert [(v4 or v6, response in ("1", "True")) for v4, v6, response in read] == [
        (packet["from"], packet["kind"] == "response") for packet in told]
    assert {packet["kind"] for packet in told} == {"query", "probe", "response"}
    assert tshark("-Y", "_ws.malformed or udp.checksum.status == 0 or ip.checksum.status == 0 or not mdns") == []


def test_without_an_interface_it_says_so(lan, controller):
    """Without an interface, plugctl prints the reason with a hint, and still exits with 0 after the given time."""
    done = controller(lan.host(connected=False)).finish("browse", "--packets", "--for", "2s")
    assert done.status == 0 and "no usable network interface yet" in done.errors and "hint: `plugctl doctor`" in done.errors, done


def test_a_trace_needs_a_place(lan, controller, tmp_path):
    """A file in a missing folder is an error. With --write but without --packets, plugctl exits with status 64."""
    person = controller(lan.host())
    done = person.finish("browse", "--packets", "--write", tmp_path / "missing" / "house.pcap")
    assert done.status == 1 and "missing/house.pcap" in done.errors, done
    assert person.finish("browse", "--write", tmp_path / "house.pcap").status == 64
