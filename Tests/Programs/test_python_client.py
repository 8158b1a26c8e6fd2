"""The Python client (Integrations/python-smartplug): its state machines, messages and types."""

import pathlib
import random
import stat
import subprocess
import sys

import pytest
from google.protobuf import descriptor_pb2
from smartplug_client import AlreadyPaired, FoundPlug, Gap, MalformedMessage, NotThePlug, PairedPlug, chunks, code_bytes
from smartplug_client.folder import KeyFolder
from smartplug_client.following import BackOff, EventLane, Liveness, PlugClock
from smartplug_client.pairing import Pairing, proofs
from smartplug_client.wire import ControllerMessage, FrameReader, PlugMessage, descriptors, frame, name_of

PROJECT = pathlib.Path(__file__).parents[2]
LIBRARY = PROJECT / "Integrations" / "python-smartplug"
PROTOCOL = PROJECT / "Sources" / "PlugProtocol" / "Specification"
PLUG_ID = "0123456789ab"
CODE = code_bytes("ABCD-EFGH-IJKL-MNOP")


def test_the_descriptors_are_those_of_the_proto_files(tmp_path):
    """The stored descriptors equal those that protoc generates from the .proto files."""
    made = tmp_path / "descriptors"
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", "-I", PROTOCOL, "--include_imports", f"--descriptor_set_out={made}",
         *(file.name for file in PROTOCOL.glob("*.proto"))], check=True)
    wanted = {file.name: file for file in descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file}
    assert {file.name: file for file in descriptors().file} == wanted, "the stored descriptors are out of date: run Scripts/generate"


def test_its_types_are_right(tmp_path):
    """mypy finds no errors in the library."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path], cwd=LIBRARY, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def plug_frame(**kind):
    message = PlugMessage(**kind).SerializeToString()
    return len(message).to_bytes(4, "big") + message


def test_frames_are_read_however_their_bytes_arrive():
    """Frames are decoded for any split of the bytes."""
    sent = plug_frame(pong={"token": 7}) + plug_frame(goodbye={"reason": 7, "detail": "who are you?"})
    for size in (1, 3, len(sent)):
        reader, found = FrameReader(), []
        for start in range(0, len(sent), size):
            reader.feed(sent[start:start + size])
            while (told := reader.next()) is not None:
                found.append(told[0])
        assert found == ["pong", "goodbye"]


def test_what_is_no_frame_is_told():
    """An empty, oversized or undecodable frame raises MalformedMessage."""
    for data in (bytes(4), b"\0\1\0\1", b"\0\0\0\2\xff\xff"):
        reader = FrameReader()
        reader.feed(data)
        with pytest.raises(MalformedMessage):
            reader.next()


def test_messages_and_names_of_a_later_version_are_skipped():
    """Unknown messages are skipped, and unknown enum values have no name."""
    reader = FrameReader()
    reader.feed(b"\0\0\0\3\xfa\x3e\0" + plug_frame(pong={"token": 7}))
    assert reader.next()[0] == "pong"
    assert (name_of("Press", 3), name_of("Press", 0), name_of("Press", 99)) == ("long", None, None)


def test_a_setup_code_is_read_as_a_person_types_it():
    assert code_bytes(" abcd efgh-ijkl mnop ") == CODE
    for text in ("", "ABCD-EFGH-IJKL", "ABCD-EFGH-IJKL-MNO1", "ABCD-EFGH-IJKL-MNOPQ", "ÄBCD-EFGH-IJKL-MNOP"):
        with pytest.raises(ValueError):
            code_bytes(text)


def answered(code, plug_code=None):
    """Returns a pairing that has answered the challenge, True if its proof is valid for the plug's code, and the plug's proof. The plug's
    code is `plug_code`, or `code` if it is None."""
    pairing = Pairing(code, b"plug's key", b"controller's key", "Test")
    request = ControllerMessage(**pairing.request()).pairing_request
    challenge = PlugMessage(pairing_challenge={"plug_id": PLUG_ID, "nonce": bytes(range(32))}).pairing_challenge
    message = ControllerMessage(**pairing.answer("pairing_challenge", challenge)).pairing_proof
    ours, theirs = proofs(plug_code or code, PLUG_ID, b"plug's key", b"controller's key", challenge.nonce, request.nonce)
    return pairing, message.proof == ours, PlugMessage(pairing_proof={"proof": theirs}).pairing_proof


def test_both_sides_prove_the_code():
    """Pairing succeeds only if both sides know the setup code."""
    pairing, is_right, proof = answered(CODE)
    assert is_right
    pairing.finish("pairing_proof", proof)
    pairing, is_right, proof = answered(CODE, plug_code=bytes(10))
    assert not is_right
    with pytest.raises(NotThePlug):
        pairing.finish("pairing_proof", proof)
    with pytest.raises(NotThePlug):  # no proof at all
        Pairing(CODE, b"", b"", "Test").finish("pairing_proof", PlugMessage(pairing_proof={}).pairing_proof)


def test_a_short_nonce_is_refused():
    challenge = PlugMessage(pairing_challenge={"plug_id": PLUG_ID, "nonce": b"short"}).pairing_challenge
    with pytest.raises(MalformedMessage):
        Pairing(CODE, b"", b"", "Test").answer("pairing_challenge", challenge)


@pytest.mark.parametrize("plug_id", ["", "../key", "0123456789AB", "0123456789abc"])
def test_a_plug_whose_id_is_not_12_hexadecimal_digits_is_not_paired(plug_id):
    challenge = PlugMessage(pairing_challenge={"plug_id": plug_id, "nonce": bytes(32)}).pairing_challenge
    with pytest.raises(MalformedMessage):
        Pairing(CODE, b"", b"", "Test").answer("pairing_challenge", challenge)


def subscribed(next_sequence, **gap):
    return PlugMessage(subscribed={"next_sequence": next_sequence, **({"gap": gap} if gap else {})}).subscribed


def test_events_are_taken_in_order_and_once():
    """Events are accepted once and in order; a gap must match the last event."""
    lane = EventLane()
    assert lane.begin() == {} and lane.subscribed(subscribed(8)) is None and lane.after == 7
    lane.check(8)
    lane.took_effect(8)
    for number in (8, 10):
        with pytest.raises(MalformedMessage):
            lane.check(number)
    assert lane.begin() == {"after": 8}
    with pytest.raises(MalformedMessage):  # not subscribed yet
        lane.check(9)
    gap = lane.subscribed(subscribed(21, **{"from": 9, "to": 19, "reason": 1}))
    assert gap == Gap(9, 19, "power_lost")
    lane.check(20)


def test_a_gap_that_does_not_fit_ends_the_session():
    """A gap that does not match the cursor raises MalformedMessage."""
    for gap in ({"from": 10, "to": 19}, {"from": 9, "to": 8}, {"from": 9, "to": 2**63}, {"from": 9, "to": 30}):
        lane = EventLane(after=8)
        lane.begin()
        with pytest.raises(MalformedMessage):
            lane.subscribed(subscribed(21, **gap))
    # A cursor beyond the newest event belongs to a different journal, so the gap covers all events of this journal.
    lane = EventLane(after=500)
    lane.begin()
    assert lane.subscribed(subscribed(5, **{"from": 1, "to": 4, "reason": 3})) == Gap(1, 4, "unknown_cursor")
    assert lane.after == 4


def test_waiting_doubles_and_begins_anew_after_a_good_session():
    """The delay before a reconnection doubles up to 30 s. A session of 1 s does not reset it, and a session of 6 s does."""
    back_off = BackOff(random.Random(1))
    waited = [back_off.next() for _ in range(12)]
    assert all(0.125 * 2**n <= delay <= 0.25 * 2**n for n, delay in enumerate(waited[:7])), waited
    assert max(waited) <= 30 and min(waited[8:]) >= 15
    back_off.ended(lasted=1)
    assert back_off.next() >= 15
    back_off.ended(lasted=6)
    assert back_off.next() <= 0.25


def test_silence_and_doubt():
    """A ping is due 20 s after the last message in either direction, and the timeout 45 s after the last received one.
    `doubt` shortens the timeout to 5 s, until the next message is received."""
    alive = Liveness(now=100)
    assert (alive.ping_at, alive.gone_at) == (120, 145)
    alive.received(now=110)
    alive.sent(now=115)
    assert (alive.ping_at, alive.gone_at) == (135, 155)
    assert alive.doubt(now=120) and not alive.doubt(now=121)
    assert alive.gone_at == 125
    alive.received(now=123)
    assert alive.gone_at == 168


def test_the_age_of_an_event_counts_its_way():
    """The age of an event includes its travel time; a better measurement of the clock replaces a worse one."""
    clock = PlugClock(asked=100.0, answered=100.2, plug_time=50_000_000_000)
    assert clock.age(plug_time=40_000_000_000, now=110.1) == pytest.approx(19.9)
    assert clock.age(plug_time=90_000_000_000, now=110.1) == 0
    better = PlugClock(asked=200.0, answered=200.02, plug_time=150_000_000_000)
    assert clock.refined(better) is better
    assert better.refined(PlugClock(asked=201.0, answered=203.0, plug_time=152_000_000_000)) is better
    # After a day, a new measurement replaces the old one although it is less exact.
    late = PlugClock(asked=86_600.0, answered=86_602.0, plug_time=1)
    assert better.refined(late) is late


def test_the_latest_time_of_a_plugs_clock():
    """The latest time includes the uncertainty of the measurement, and is never negative."""
    clock = PlugClock(asked=100.0, answered=102.0, plug_time=50_000_000_000)
    assert clock.latest(101.0) == 51_000_000_000
    assert clock.latest(0) == 0


def test_a_chunk_that_is_cut_off_or_promises_too_much_is_told():
    """A truncated or inconsistent sample chunk raises ValueError."""
    # A chunk with two samples of 40 W, which are 1000 ms apart.
    head = bytes([0xC1, 0, 0, 2]) + (1000).to_bytes(8, "big") + (2000).to_bytes(8, "big")
    whole = head + bytes([1, 0, 0x41, 0, 0xE8, 0x07, 0b10, 0, 0xA0, 0x06])
    assert chunks.samples(whole) == [
        {"milliseconds": 1000, "activePower": 40.0}, {"milliseconds": 2000, "activePower": 40.0}]
    for wrong in (whole[:-1], whole[:10], b"", b"\xc2" + whole[1:], whole + b"\0", whole[:24] + b"\x80" * 40):
        with pytest.raises(ValueError):
            chunks.samples(wrong)


def test_announcements_are_judged():
    """Announcements are validated: id, port and at most eight addresses."""
    txt = {"id": PLUG_ID, "pair": "1"}
    found = FoundPlug.announced(
        "Lamp._smartplug._tcp.local.", ["fe80::1%3", "fd00::1", "10.0.0.1", *(f"10.0.1.{number}" for number in range(20))], 4711, txt)
    assert (found.plug_id, found.name, found.port, found.pairing) == (PLUG_ID, "Lamp", 4711, True)
    assert found.addresses[0] == "10.0.0.1" and len(found.addresses) == 8
    for txt, port in (({}, 1), ({"id": "../../etc"}, 1), ({"id": None}, 1), ({"id": PLUG_ID}, 0), ({"id": PLUG_ID}, None)):
        assert FoundPlug.announced("Lamp", ["10.0.0.1"], port, txt) is None


def test_a_next_key_counts_beside_the_one_of_now_until_it_is_proved():
    """An announced next key is valid in addition to the current one until the plug proves it."""
    plug = PairedPlug(PLUG_ID, (b"one",))
    both = plug.announced(b"two")
    assert both.keys == (b"one", b"two") and both.announced(b"three").keys == (b"one", b"three")
    assert both.proved(b"one") == both and both.proved(b"two").keys == (b"two",)


def test_keys_in_a_folder_are_their_owners_alone(tmp_path):
    """Files and folder of keys are readable by their owner only."""
    folder = KeyFolder(tmp_path / "keys")
    own = folder.identity().public_key
    assert folder.identity().public_key == own
    folder.keep(PairedPlug(PLUG_ID, (b"key",)))
    assert folder.plug_with(b"key").plug_id == PLUG_ID and folder.plug_with(b"other") is None
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "keys").iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700


def test_hidden_files_of_a_folder_are_not_keys(tmp_path):
    """Hidden files in the key folder are ignored."""
    folder = KeyFolder(tmp_path)
    folder.keep(PairedPlug(PLUG_ID, (b"key",)))
    (tmp_path / f"._{PLUG_ID}.plug").write_bytes(b"attributes of macOS")
    (tmp_path / f".#{PLUG_ID}.plug").symlink_to("person@host.1234:1")
    assert folder.plugs() == [PairedPlug(PLUG_ID, (b"key",))]


def test_a_different_key_for_a_paired_id_is_stored_only_on_request(tmp_path):
    folder = KeyFolder(tmp_path / "keys")
    folder.keep(PairedPlug(PLUG_ID, (b"key",)))
    folder.keep(PairedPlug(PLUG_ID, (b"key",)))
    with pytest.raises(AlreadyPaired, match=f"{PLUG_ID}.*different key(.|\n)*--replace"):
        folder.keep(PairedPlug(PLUG_ID, (b"other",)))
    assert folder.plug_with(b"key").plug_id == PLUG_ID and folder.plug_with(b"other") is None
    folder.keep(PairedPlug(PLUG_ID, (b"other",)), replace=True)
    assert folder.plug_with(b"key") is None and folder.plug_with(b"other").plug_id == PLUG_ID


def test_a_frame_of_ours_is_one_of_the_protocol():
    """A message of the client is encoded as a frame of the protocol."""
    assert frame(hello={"version": 1}) == b"\0\0\0\4\n\2\x08\1"
