"""The Python client follows a plug that the test simulates: it reconnects, resumes, repeats commands and rejects wrong
keys."""

import asyncio
import contextlib
import ssl

import pytest
from smartplug_client import (
    ButtonPressed, CommandRefused, CommandUnanswered, Connected, Controller, Disconnected, Event, FollowedPlug, Gap, Identity, PairedPlug,
    Press, RelayChanged, State, turn,
)
from smartplug_client.wire import ControllerMessage, PlugMessage

PLUG_ID = "0123456789ab"


def plug_frame(**kind):
    message = PlugMessage(**kind).SerializeToString()
    return len(message).to_bytes(4, "big") + message


class PlayedPlug:
    """A simulated plug on the loopback interface. It exchanges Hello and Welcome on each connection and then calls
    `play(read, send)`, which continues the session."""

    def __init__(self, play):
        self._identity, self._play = Identity.draw(), play
        self.paired = PairedPlug(PLUG_ID, (self._identity.public_key,))
        self.place, self.connections = None, 0

    async def __aenter__(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["smartplug/1"])
        self._identity.load_into(context)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.place = self._server.sockets[0].getsockname()[:2]
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _serve(self, reader, writer):
        self.connections += 1

        async def read(kind):
            while True:
                length = int.from_bytes(await reader.readexactly(4), "big")
                message = ControllerMessage.FromString(await reader.readexactly(length))
                if message.WhichOneof("kind") == kind:
                    return getattr(message, kind)

        def send(**kind):
            writer.write(plug_frame(**kind))

        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await read("hello")
            send(welcome={"version": 1, "plug_id": PLUG_ID, "name": "Lamp", "boot_id": bytes(16), "plug_time": 10**12})
            await self._play(read, send)
        writer.close()


def followed(play, act, **options):
    """Follows the simulated plug while `act(plug, updates, played)` runs. Returns the list of updates and the FollowedPlug."""
    told = []

    async def follow():
        async with PlayedPlug(play) as played:
            controller = await Controller.make(Identity.draw(), "Test")
            plug = FollowedPlug(controller, options.pop("plug", played.paired), lambda: [played.place], **options)
            running = asyncio.create_task(plug.run(told.append))
            acting = asyncio.create_task(act(plug, told, played))
            await asyncio.wait([running, acting], timeout=20, return_when=asyncio.FIRST_COMPLETED)
            for task in (running, acting):
                if not task.done():
                    task.cancel()
            await asyncio.wait([running, acting])
            if not running.cancelled():
                running.result()
            acting.result()
            return plug

    return told, asyncio.run(follow())


async def until(check):
    while not check():
        await asyncio.sleep(0.01)


def event(number, **more):
    return {"sequence": number, "plug_time": 10**12, "age_ms": 5, "button_pressed": {"press": 1}, **more}


def test_it_comes_back_after_the_last_event_that_took_effect():
    """After a reconnection, the client subscribes to the events after the last acknowledged one, and reports a gap."""
    asked = []

    async def play(read, send):
        asked.append((await read("subscribe")).after)
        if len(asked) == 1:
            send(subscribed={"next_sequence": 5})
            send(snapshot={"state": {"relay_on": True, "level_permille": 400}})
            send(event=event(5))
            assert (await read("acknowledge")).sequence == 5
        else:
            send(subscribed={"next_sequence": 9, "gap": {"from": 6, "to": 7, "reason": 2}})
            send(event=event(8, age_ms=90_000, relay_changed={"on": True, "cause": 2, "controller": "Other"}))
            await read("acknowledge")

    async def act(plug, told, played):
        await until(lambda: plug.cursor == 8)

    told, plug = followed(play, act)
    assert asked[:2] == [0, 5]
    kinds = [one for one in told if not isinstance(one, Disconnected | Connected)]
    assert kinds[0] == State(True, 40.0) and isinstance(kinds[1], Event) and kinds[1].what == ButtonPressed(Press.SINGLE)
    assert kinds[1].age < 10 and kinds[2] == Gap(6, 7, "overwritten")
    assert kinds[3].what == RelayChanged(True, "controller", "Other") and kinds[3].age >= 90


def test_an_event_of_an_earlier_boot_has_no_age():
    async def play(read, send):
        await read("subscribe")
        send(subscribed={"next_sequence": 5})
        send(event={"sequence": 5, "boot_id": b"another boot 123", "button_pressed": {"press": 2}})
        await read("acknowledge")

    async def act(plug, told, played):
        await until(lambda: plug.cursor == 5)

    told, _ = followed(play, act)
    assert [one.age for one in told if isinstance(one, Event)] == [None]


def test_a_command_is_sent_again_under_its_id_until_it_is_answered():
    """An unanswered command is repeated with the same id and a shorter deadline; a refusal raises CommandRefused."""
    asked = []

    async def play(read, send):
        asked.append(await read("command"))
        if len(asked) == 2:
            send(result={"request_id": asked[0].request_id, "done": {"state": {"relay_on": True}, "sequence": 7}})
            asked.append(await read("command"))
            send(result={"request_id": asked[2].request_id, "refused": {"code": 2, "detail": "reset it first"}})
            await read("goodbye")

    async def act(plug, told, played):
        done = await plug.command(turn(True))
        assert (done.state, done.sequence) == (State(True), 7)
        with pytest.raises(CommandRefused) as refused:
            await plug.command(turn(True))
        assert refused.value.code == "protection_tripped"

    followed(play, act)
    assert asked[0].request_id == asked[1].request_id != asked[2].request_id
    assert asked[1].deadline_ms < asked[0].deadline_ms <= 5000


def test_commands_without_an_answer_end_in_time_and_have_a_limit():
    """A command without an answer ends at its deadline, and at most 16 commands may be pending."""
    async def play(read, send):
        await read("goodbye")

    async def act(plug, told, played):
        asked = [asyncio.create_task(plug.command(turn(True), within=0.5)) for _ in range(16)]
        await asyncio.sleep(0)
        with pytest.raises(CommandRefused):
            await plug.command(turn(True))
        assert {type(one) for one in await asyncio.gather(*asked, return_exceptions=True)} == {CommandUnanswered}

    followed(play, act)


def test_places_that_never_answer_or_are_another_plugs_keep_nobody_away():
    """Addresses that do not answer or have a different key do not prevent the connection, and get no Hello."""
    said = []

    async def play(read, send):
        await read("goodbye")

    async def impostor(read, send):
        said.append("Hello")

    async def connect():
        async with PlayedPlug(play) as real, PlayedPlug(impostor) as other:
            silent = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
            controller = await Controller.make(Identity.draw(), "Test")
            places = [silent.sockets[0].getsockname()[:2], other.place, ("127.0.0.1", 1), real.place]
            async with asyncio.timeout(8):  # shorter than the timeout of an attempt at the silent address
                session = await controller.connect(real.paired, places)
            assert session.description.plug_id == PLUG_ID
            await session.connection.close()
            silent.close()

    asyncio.run(connect())
    assert not said


def test_nothing_is_said_to_a_plug_with_another_key():
    """With a different key than the pinned one, no Hello is sent."""
    async def play(read, send):
        raise AssertionError("the client sent Hello")

    async def act(plug, told, played):
        await until(lambda: len(told) >= 2)
        assert {one.distrust for one in told} == {"other_key"}

    followed(play, act, plug=PairedPlug(PLUG_ID, (Identity.draw().public_key,)))


def test_a_plug_that_knows_us_no_more_says_so():
    """If the plug no longer knows the controller, the client reports the reason, and connects again when it locates the plug."""
    async def play(read, send):
        send(goodbye={"reason": 7, "detail": "You are not paired."})

    async def act(plug, told, played):
        await until(lambda: len(told) >= 2)
        assert told[1] == Disconnected("You are not paired.", "not_paired")
        before = played.connections
        plug.located()  # A located plug is tried again, because it may be paired again.
        await until(lambda: played.connections > before)

    followed(play, act)


def test_the_next_key_of_a_plug_is_kept_before_the_plug_hears_of_it():
    """The client stores a plug's next key before it confirms the key to the plug."""
    kept, said = [], []

    async def play(read, send):
        await read("subscribe")
        send(next_key={"key": b"next"})
        said.append((await read("next_key_kept")).key)
        await read("goodbye")

    async def keep(plug):
        assert not said
        kept.append(plug.keys[1:])

    async def act(plug, told, played):
        await until(lambda: said)

    followed(play, act, keep=keep)
    assert kept == [(b"next",)] and said == [b"next"]


def test_a_plug_that_breaks_the_protocol_is_left():
    """The client disconnects after an event that violates the protocol, and does not report the event."""
    async def play(read, send):
        await read("subscribe")
        send(subscribed={"next_sequence": 5})
        send(event=event(7))
        await read("goodbye")

    async def act(plug, told, played):
        await until(lambda: any(isinstance(one, Disconnected) for one in told))
        assert not any(isinstance(one, Event) for one in told)

    followed(play, act)
