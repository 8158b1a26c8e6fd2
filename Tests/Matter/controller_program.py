"""The controller of the Matter SDK as a separate program: controller_program.py SOCKET STORAGE AUTHORITIES.

It must run inside a host of the LAN, and with private folders /data and /tmp, because the SDK writes there (see
private_files). STORAGE is the file of its fabric, and AUTHORITIES is the folder with the certificates that may issue
those of devices.

The program reads lines of JSON {"do": NAME, ...} from the test that connects to the socket, answers each with {"done": ...} or
{"error": ...}, and sends {"event": {...}} and {"value": {...}} for the reports of subscriptions at any time.
"""

import asyncio
import dataclasses
import json
import sys

import chip.native
from chip import ChipStack
from chip.CertificateAuthority import CertificateAuthorityManager
from chip.ChipDeviceCtrl import DiscoveryType
from chip.clusters import Objects
from chip.clusters.Attribute import AttributePath, ValueDecodeFailure
from chip.clusters.ClusterObjects import ALL_CLUSTERS
from chip.clusters.Types import Nullable, NullValue
from chip.discovery import FilterType
from chip.exceptions import ChipStackError

VENDOR, FABRIC = 0xFFF1, 1
# The first group and its keys in the test data of the SDK (InitGroupTestingData).
GROUP, KEY_SET = 0x0101, 0x01A1
ADMINISTRATOR = 112233


def plain(value):
    """Returns the value as JSON has it: bytes as hexadecimal text, names of fields and paths as text."""
    if isinstance(value, ValueDecodeFailure):
        return {"failure": str(value.Reason)} if value.TLVValue is None else plain(value.TLVValue)
    if value is None or isinstance(value, (Nullable, type(Nullable))):
        return None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (bool, str, float)):
        return value
    return int(value)


def flat(values):
    """Returns the values of attributes by "ENDPOINT/CLUSTER/ATTRIBUTE"."""
    return {f"{endpoint}/{cluster}/{attribute}": plain(value) for endpoint, clusters in values.items()
            for cluster, attributes in clusters.items() for attribute, value in attributes.items()}


def attribute_path(text):
    """Returns the path of "ENDPOINT/CLUSTER/ATTRIBUTE", in which "*" is a wildcard."""
    return AttributePath(*(None if part == "*" else int(part) for part in text.split("/")))


def event_path(text, urgent):
    """Returns the path of all events ("*"), or of all events of a cluster ("ENDPOINT/CLUSTER"). Urgent events are reported at once."""
    if text == "*":
        return (text, urgent)
    endpoint, cluster = text.split("/")
    return (int(endpoint), ALL_CLUSTERS[int(cluster)], urgent)


def named(cluster, kind, name):
    return getattr(getattr(getattr(Objects, cluster), kind), name)


class Controller:
    """A controller and its fabric, with one method per command."""

    def __init__(self, storage, authorities, tell):
        self._tell, self._loop = tell, asyncio.get_running_loop()
        self._subscriptions = {}
        chip.native.Init()
        self._stack = ChipStack.ChipStack(storage)
        self._manager = CertificateAuthorityManager(self._stack)
        self._manager.LoadAuthoritiesFromStorage()
        if not self._manager.activeCaList:
            self._manager.NewCertificateAuthority().NewFabricAdmin(VENDOR, FABRIC)
        self._controller = self._manager.activeCaList[0].adminList[0].NewController(ADMINISTRATOR, authorities)

    def close(self):
        for subscription in self._subscriptions.values():
            subscription.Shutdown()
        self._manager.Shutdown()
        self._stack.Shutdown()

    async def identity(self):
        """Returns the compressed id of the fabric and the node id of this controller."""
        return {"fabric": self._controller.GetCompressedFabricId(), "node": self._controller.nodeId}

    async def discover(self, short_discriminator, seconds=10):
        found = await self._controller.DiscoverCommissionableNodes(
            FilterType.SHORT_DISCRIMINATOR, short_discriminator, stopOnFirst=True, timeoutSecond=seconds)
        return [plain({name: one for name, one in vars(node).items() if not name.startswith("_")}) for node in found or []]

    async def manual_code(self, discriminator, passcode):
        return self._controller.CreateManualCode(discriminator, passcode)

    async def commission(self, code, node):
        try:
            return await self._controller.CommissionWithCode(code, node, DiscoveryType.DISCOVERY_NETWORK_ONLY_WITHOUT_PASE_AUTO_RETRY)
        except ChipStackError:
            # The SDK reports a failed handshake twice, and the second report would end the next commissioning.
            await asyncio.sleep(0.5)
            raise

    async def read(self, node, paths, events=(), fabric_filtered=True):
        found = await self._controller.Read(
            node, [attribute_path(text) for text in paths], events=[event_path(text, 0) for text in events] or None,
            fabricFiltered=fabric_filtered)
        return {"values": flat(found.tlvAttributes), "events": [self._event(one) for one in found.events]}

    async def invoke(self, node, endpoint, cluster, command, fields=None, timed=None):
        request = named(cluster, "Commands", command)(**(fields or {}))
        return plain(await self._controller.SendCommand(node, endpoint, request, timedRequestTimeoutMs=timed))

    async def write(self, node, endpoint, cluster, attribute, value):
        written = await self._controller.WriteAttribute(node, [(endpoint, named(cluster, "Attributes", attribute)(value))])
        return [int(one.Status) for one in written]

    async def subscribe(self, node, paths, events=(), minimum=0, maximum=30):
        """Subscribes, and returns the first values. The subscription is renewed automatically when it is lost."""
        made = await self._controller.Read(
            node, [attribute_path(text) for text in paths], events=[event_path(text, 1) for text in events] or None,
            reportInterval=(minimum, maximum), keepSubscriptions=True)
        self._subscriptions[made.subscriptionId] = made
        # The SDK calls these functions on its own thread.
        made.SetAttributeUpdateCallback(None)
        made.SetRawAttributeUpdateCallback(lambda changed, of: self._say(
            {"value": {"node": node, "path": str(changed), "value": plain(of.GetTLVAttribute(changed))}}))
        made.SetEventUpdateCallback(lambda told, _: self._say({"event": {"node": node, **self._event(told)}}))
        made.SetResubscriptionAttemptedCallback(lambda *_: self._tell({"event": {"node": node, "subscription": "lost"}}))
        made.SetResubscriptionSucceededCallback(lambda _: self._tell({"event": {"node": node, "subscription": "renewed"}}))
        return {"values": flat(made.GetTLVAttributes()), "events": [self._event(one) for one in made.GetEvents()],
                "intervals": made.GetReportingIntervalsSeconds()}

    def _say(self, told):
        self._loop.call_soon_threadsafe(self._tell, told)

    @staticmethod
    def _event(told):
        header = told.Header
        return {"path": f"{header.EndpointId}/{header.ClusterId}/{header.EventId}", "number": header.EventNumber,
                "priority": header.Priority.value, "status": told.Status.value, "data": plain(told.Data)}

    async def open_window(self, node, seconds, discriminator):
        """Opens a commissioning window with a new code, and returns the code."""
        opened = await self._controller.OpenCommissioningWindow(node, seconds, 1000, discriminator, 1)
        return {"code": opened.setupManualCode, "qr": opened.setupQRCode}

    async def form_group(self, node, endpoint):
        """Makes an endpoint a member of a group, and permits the group to operate the device."""
        self._controller.InitGroupTestingData()
        keys, access = Objects.GroupKeyManagement, Objects.AccessControl
        key_set = keys.Structs.GroupKeySetStruct(
            groupKeySetID=KEY_SET, groupKeySecurityPolicy=keys.Enums.GroupKeySecurityPolicyEnum.kTrustFirst,
            epochKey0=bytes(range(0xA0, 0xB0)), epochStartTime0=1110000, epochKey1=bytes(range(0xB0, 0xC0)), epochStartTime1=1110001,
            epochKey2=bytes(range(0xC0, 0xD0)), epochStartTime2=1110002)
        await self._controller.SendCommand(node, 0, keys.Commands.KeySetWrite(key_set))
        await self._controller.WriteAttribute(node, [(0, keys.Attributes.GroupKeyMap(
            [keys.Structs.GroupKeyMapStruct(groupId=GROUP, groupKeySetID=KEY_SET)]))])
        await self._controller.SendCommand(node, endpoint, Objects.Groups.Commands.AddGroup(groupID=GROUP, groupName="Hall"))

        def entry(privilege, mode, subject):
            return access.Structs.AccessControlEntryStruct(privilege=privilege, authMode=mode, subjects=[subject], targets=NullValue)

        privileges, modes = access.Enums.AccessControlEntryPrivilegeEnum, access.Enums.AccessControlEntryAuthModeEnum
        written = await self._controller.WriteAttribute(node, [(0, access.Attributes.Acl([
            entry(privileges.kAdminister, modes.kCase, ADMINISTRATOR), entry(privileges.kOperate, modes.kGroup, GROUP)]))])
        return [int(one.Status) for one in written]

    async def tell_group(self, cluster, command):
        """Sends a command to the group by multicast. Nothing is answered."""
        self._controller.SendGroupCommand(GROUP, named(cluster, "Commands", command)())

    async def forget_sessions(self, node):
        self._controller.ExpireSessions(node)

    async def connect(self, node, seconds):
        """Opens a new session with the device."""
        self._controller.ExpireSessions(node)
        await self._controller.GetConnectedDevice(node, allowPASE=False, timeoutMs=seconds * 1000)

    async def remove(self, node):
        """Removes this controller's fabric from the device."""
        await self._controller.UnpairDevice(node)


async def main(socket, storage, authorities):
    done = asyncio.Event()

    async def serve(reader, writer):
        def tell(told):
            writer.write(json.dumps(told).encode() + b"\n")

        controller = Controller(storage, authorities, tell)
        tell({"done": "open"})
        while line := await reader.readline():
            order = json.loads(line)
            try:
                tell({"done": await getattr(controller, order.pop("do"))(**order)})
            except Exception as fault:
                tell({"error": type(fault).__name__, "words": str(fault)})
        controller.close()
        done.set()

    await asyncio.start_unix_server(serve, socket, limit=1 << 24)
    print(json.dumps({"event": "listening"}), flush=True)
    await done.wait()


asyncio.run(main(*sys.argv[1:]))
