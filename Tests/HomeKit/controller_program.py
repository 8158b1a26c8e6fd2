"""aiohomekit as a separate program, because it must run inside a host of the LAN: controller_program.py SOCKET.

It reads lines of JSON {"do": NAME, ...} from the test that connects to the socket, answers each with {"done": ...} or
{"error": ...}, and sends {"event": {"AID.IID": value}} at any time.
"""

import asyncio
import json
import sys
import uuid

from aiohomekit import Controller
from aiohomekit.characteristic_cache import CharacteristicCacheMemory
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceBrowser, AsyncZeroconf

TYPES = ["_hap._tcp.local.", "_hap._udp.local."]


def key(text):
    return tuple(int(part) for part in text.split("."))


def by_text(values):
    return {f"{aid}.{iid}": value for (aid, iid), value in values.items()}


class Person:
    """A HomeKit controller, with one method per command."""

    def __init__(self, tell):
        self._tell = tell
        self._pairings = {}
        self._starting = {}

    async def open(self):
        self._zeroconf = AsyncZeroconf(ip_version=IPVersion.V4Only)
        self._browser = AsyncServiceBrowser(self._zeroconf.zeroconf, TYPES, handlers=[lambda **_: None])
        self._controller = Controller(async_zeroconf_instance=self._zeroconf, char_cache=CharacteristicCacheMemory())
        await self._controller.async_start()

    async def find(self, device):
        found = await self._controller.async_find(device, timeout=20)
        told = found.description
        return {"name": told.name, "paired": found.paired, "category": told.category.value, "config": told.config_num, "state": told.state_num}

    async def identify(self, device):
        await (await self._controller.async_find(device, timeout=20)).async_identify()

    async def begin(self, device):
        """Runs pair-setup until it needs the setup code."""
        self._starting[device] = await (await self._controller.async_find(device, timeout=20)).async_start_pairing(device)

    async def pair(self, device, code):
        await self.begin(device)
        self._follow(device, await self._starting.pop(device)(code))
        return self._pairings[device].pairing_data

    async def know(self, device, data):
        """Loads this controller's pairing data, after another controller has added this one to the accessory."""
        await self._controller.async_find(device, timeout=20)
        self._follow(device, self._controller.load_pairing(device, data))

    def _follow(self, device, pairing):
        self._pairings[device] = pairing
        pairing.dispatcher_connect(lambda values: self._tell({by: value.get("value") for by, value in by_text(values).items()}))

    async def accessories(self, device):
        return await self._pairings[device].list_accessories_and_characteristics()

    async def get(self, device, keys):
        return by_text(await self._pairings[device].get_characteristics([key(text) for text in keys]))

    async def put(self, device, values):
        return by_text(await self._pairings[device].put_characteristics([(*key(text), value) for text, value in values.items()]))

    async def subscribe(self, device, keys):
        return by_text(await self._pairings[device].subscribe([key(text) for text in keys]) or {})

    async def pairings(self, device):
        return [{"id": one["pairingId"], "admin": bool(one["permissions"])} for one in await self._pairings[device].list_pairings()]

    async def new_controller(self):
        """Generates the keys of a controller that is to be added."""
        private = ed25519.Ed25519PrivateKey.generate()
        raw = serialization.Encoding.Raw
        return {
            "iOSPairingId": str(uuid.uuid4()),
            "iOSDeviceLTSK": private.private_bytes(raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()).hex(),
            "iOSDeviceLTPK": private.public_key().public_bytes(raw, serialization.PublicFormat.Raw).hex(),
        }

    async def add(self, device, identifier, public_key, permissions):
        await self._pairings[device].add_pairing(identifier, public_key, permissions)

    async def remove(self, device, identifier):
        await self._pairings[device].remove_pairing(identifier)


async def main(path):
    done = asyncio.Event()

    async def serve(reader, writer):
        def tell(told):
            writer.write(json.dumps(told).encode() + b"\n")

        person = Person(lambda values: tell({"event": values}))
        await person.open()
        tell({"done": "open"})
        while line := await reader.readline():
            order = json.loads(line)
            try:
                tell({"done": await getattr(person, order.pop("do"))(**order)})
            except Exception as fault:
                tell({"error": type(fault).__name__, "words": str(fault)})
        done.set()

    await asyncio.start_unix_server(serve, path)
    print(json.dumps({"event": "listening"}), flush=True)
    await done.wait()


asyncio.run(main(sys.argv[1]))
