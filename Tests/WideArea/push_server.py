"""A name server of one zone, which the test changes, with a push server (RFC 8765) and a server of long-lived queries (RFC 8764). It is written from the RFCs' text, with dnspython for
records, and shares no code with the controller.

usage: push_server.py ADDRESS ZONE FOLDER. FOLDER gets the certificate and the socket `control`. The program prints one JSON object per query,
connection and request, and performs the commands of the socket, one JSON object per line:
    {"add": RECORDS}, {"remove": RECORDS}  with RECORDS such as [["name", 3600, "PTR", "target"], ...]
    {"behaviour": {...}}                   changes fields of the class Behaviour
    {"close": true}                        closes all connections
    {"flood": NUMBER}                      pushes so many records that are not in the zone, to each connection
"""

import asyncio
import dataclasses
import datetime
import json
import pathlib
import ssl
import struct
import sys

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PORT, QUERY_PORT = 853, 5352
# The operations of long-lived queries.
SETUP, REFRESH, EVENT = 1, 2, 3
NO_SUCH_QUERY = 4
KEEPALIVE, RETRY_DELAY, SUBSCRIBE, PUSH, UNSUBSCRIBE = 1, 2, 0x40, 0x41, 0x42
REMOVED, ADDED = 0xFFFFFFFF, None


def tell(**what):
    print(json.dumps(what), flush=True)


@dataclasses.dataclass
class Behaviour:
    offered: bool = True  # the zone names the push server
    queries: bool = False  # the zone names the server of long-lived queries
    lease: int = 7200  # the lifetime of long-lived queries in seconds
    accepting: bool = True  # connections are not closed at once
    code: int = 0  # the RCODE of every response


class Zone:
    def __init__(self, name, address):
        self.name = dns.name.from_text(name)
        name = self.name.to_text()
        self.records = []  # (name, time to live, type, data)
        self.apex = [
            self.parsed([name, 60, "SOA", f"ns.{name} hostmaster.{name} 1 600 60 86400 5"]),
            self.parsed([f"ns.{name}", 3600, "A", address])]
        self.offer = self.parsed([f"_dns-push-tls._tcp.{name}", 60, "SRV", f"0 0 {PORT} ns.{name}"])
        self.query_offer = self.parsed([f"_dns-llq._udp.{name}", 60, "SRV", f"0 0 {QUERY_PORT} ns.{name}"])

    @staticmethod
    def parsed(record):
        name, life, kind, data = record
        kind = dns.rdatatype.from_text(kind)
        return dns.name.from_text(name), life, kind, dns.rdata.from_text(dns.rdataclass.IN, kind, data, relativize=False)

    def matching(self, name, kind):
        known = self.records + self.apex + ([self.offer] if server.behaviour.offered else [])
        known += [self.query_offer] if server.behaviour.queries else []
        return [record for record in known if record[0] == name and record[2] == kind]

    def answer(self, wire):
        query = dns.message.from_wire(wire)
        question = query.question[0]
        tell(query=question.name.to_text(), type=dns.rdatatype.to_text(question.rdtype))
        response = dns.message.make_response(query)
        response.flags |= dns.flags.AA
        found = self.matching(question.name, question.rdtype)
        section, records = (response.answer, found) if found else (response.authority, self.apex[:1])
        for name, life, kind, data in records:
            response.find_rrset(section, name, dns.rdataclass.IN, kind, create=True).update(dns.rrset.from_rdata(name, life, data))
        return response.to_wire()


class Session:
    """One connection by TLS."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.subscriptions = {}  # (name, type) by identifier

    async def run(self):
        while True:
            length, = struct.unpack("!H", await self.reader.readexactly(2))
            self.receive(await self.reader.readexactly(length))
            await self.writer.drain()

    def receive(self, wire):
        identifier, flags, *counts = struct.unpack("!6H", wire[:12])
        assert flags == 6 << 11 and counts == [0, 0, 0, 0], wire
        kind, length = struct.unpack("!HH", wire[12:16])
        data = wire[16:16 + length]
        assert len(data) == length, wire
        if kind == KEEPALIVE:
            inactivity, interval = struct.unpack("!II", data)
            tell(keepalive=interval)
            self.respond(identifier, item(KEEPALIVE, struct.pack("!II", 15_000, max(interval, 10_000))))
        elif kind == SUBSCRIBE:
            name, used = dns.name.from_wire(data, 0)
            rdtype, rdclass = struct.unpack("!HH", data[used:])
            assert rdclass == dns.rdataclass.IN and (name, rdtype) not in self.subscriptions.values(), wire
            tell(subscribe=name.to_text(), type=dns.rdatatype.to_text(rdtype))
            self.respond(identifier)
            if server.behaviour.code == 0:
                self.subscriptions[identifier] = (name, rdtype)
                self.push([(record, ADDED) for record in server.zone.matching(name, rdtype)])
        elif kind == UNSUBSCRIBE:
            assert identifier == 0
            name, rdtype = self.subscriptions.pop(*struct.unpack("!H", data))
            tell(unsubscribe=name.to_text(), type=dns.rdatatype.to_text(rdtype))

    def respond(self, identifier, items=b""):
        code = server.behaviour.code
        self.send(struct.pack("!6H", identifier, 0x8000 | 6 << 11 | code, 0, 0, 0, 0) + (b"" if code else items))

    def send(self, message):
        self.writer.write(struct.pack("!H", len(message)) + message)

    def push(self, changes, everything=False):
        """Sends the changes, as far as the client has subscribed to them. A name that repeats the previous one is compressed."""
        wanted = [change for change in changes if everything or (change[0][0], change[0][2]) in self.subscriptions.values()]
        for start in range(0, len(wanted), 100):
            data, last, offset = b"", None, 0
            for (name, life, kind, rdata), removal in wanted[start:start + 100]:
                if name == last:
                    data += struct.pack("!H", 0xC000 | offset)
                else:
                    last, offset = name, 16 + len(data)
                    data += name.to_wire()
                content = rdata.to_wire()
                data += struct.pack("!HHIH", kind, dns.rdataclass.IN, life if removal is ADDED else removal, len(content)) + content
            self.send(struct.pack("!6H", 0, 6 << 11, 0, 0, 0, 0) + item(PUSH, data))


def item(kind, data):
    return struct.pack("!HH", kind, len(data)) + data


class Server:
    def __init__(self, zone):
        self.zone = zone
        self.behaviour = Behaviour()
        self.sessions = set()
        self.queries = Queries()

    async def accept(self, reader, writer):
        tell(connected=True)
        session = Session(reader, writer)
        self.sessions.add(session)
        try:
            if self.behaviour.accepting:
                await session.run()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            self.sessions.discard(session)
            tell(connected=False)
            writer.close()

    async def control(self, reader, writer):
        while line := await reader.readline():
            self.perform(json.loads(line))
            writer.write(b"done\n")
            await writer.drain()
        writer.close()

    def perform(self, command):
        added, removed = ([self.zone.parsed(record) for record in command.get(key, [])] for key in ("add", "remove"))
        self.zone.records = [
            record for record in self.zone.records
            if not any((record[0], record[2], record[3]) == (gone[0], gone[2], gone[3]) for gone in removed)] + added
        for field, value in command.get("behaviour", {}).items():
            assert hasattr(self.behaviour, field), field
            setattr(self.behaviour, field, value)
        flood = (
            (self.zone.parsed([f"_smartplug._tcp.{self.zone.name}", 60, "PTR", f"Flood-{number}._smartplug._tcp.{self.zone.name}"]), ADDED)
            for number in range(command.get("flood", 0)))
        flood = list(flood)
        self.queries.notify(added, removed)
        for session in list(self.sessions):
            session.push([(record, REMOVED) for record in removed] + [(record, ADDED) for record in added])
            session.push(flood, everything=True)
            if command.get("close"):
                session.writer.close()


class Queries(asyncio.DatagramProtocol):
    """The server of long-lived queries. It repeats no event, because the test loses no datagram."""

    def __init__(self):
        self.known = {}  # (address, question, True if the challenge was answered) by identifier
        self.last = 0

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        message = dns.message.from_wire(data)
        [option] = [option for option in message.options if option.otype == 1]
        version, operation, error, identifier, lease = struct.unpack("!HHHQI", option.to_wire())
        assert (version, error) == (1, 0), data
        question = message.question[0]
        tell(operation=operation, lease=lease, name=question.name.to_text(), type=dns.rdatatype.to_text(question.rdtype))
        if operation == EVENT:
            assert message.flags & dns.flags.QR and self.known[identifier][0] == address
            return
        answers = []
        if operation == REFRESH and lease == 0:
            self.known.pop(identifier)
            return
        if operation == REFRESH:
            error = 0 if identifier in self.known else NO_SUCH_QUERY
        elif identifier == 0:
            self.last += 1
            identifier = self.last
            self.known[identifier] = (address, question, False)
        else:
            assert self.known[identifier][:2] == (address, question)
            self.known[identifier] = (address, question, True)
            answers = server.zone.matching(question.name, question.rdtype)
        self.send(address, message.id, question, operation, error, identifier, server.behaviour.lease, answers)

    def notify(self, added, removed):
        changes = added + [(name, 0xFFFFFFFF, kind, data) for name, _, kind, data in removed]
        for identifier, (address, question, is_live) in self.known.items():
            wanted = [change for change in changes if (change[0], change[2]) == (question.name, question.rdtype)]
            if is_live and wanted:
                self.send(address, 7, question, EVENT, 0, identifier, 0, wanted)

    def send(self, address, message, question, operation, error, identifier, lease, answers):
        option = struct.pack("!HHHHHQI", 1, 18, 1, operation, error, identifier, lease)
        wire = struct.pack("!6H", message, 0x8400, 1, len(answers), 0, 1)
        wire += question.name.to_wire() + struct.pack("!HH", question.rdtype, question.rdclass)
        for name, life, kind, data in answers:
            content = data.to_wire()
            wire += name.to_wire() + struct.pack("!HHIH", kind, dns.rdataclass.IN, life, len(content)) + content
        self.transport.sendto(wire + struct.pack("!BHHIH", 0, 41, 1440, 0, len(option)) + option, address)


class Datagrams(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        self.transport.sendto(server.zone.answer(data), address)


def context(folder):
    """The TLS settings, with a new certificate that no authority has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "push")])
    now = datetime.datetime.now(datetime.timezone.utc)
    day = datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - day).not_valid_after(now + day).sign(key, hashes.SHA256()))
    file = folder / "certificate.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM))
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    settings.load_cert_chain(file)
    return settings


async def main(address, folder):
    await asyncio.get_running_loop().create_datagram_endpoint(Datagrams, local_addr=(address, 53))
    await asyncio.get_running_loop().create_datagram_endpoint(lambda: server.queries, local_addr=(address, QUERY_PORT))
    await asyncio.start_server(server.accept, address, PORT, ssl=context(folder))
    await asyncio.start_unix_server(server.control, folder / "control")
    tell(ready=True)
    await asyncio.Event().wait()


server = Server(Zone(sys.argv[2], sys.argv[1]))
asyncio.run(main(sys.argv[1], pathlib.Path(sys.argv[3])))
