"""A registrar of the Service Registration Protocol (RFC 9665) and name server of one zone. It is written from the RFC's text, with
dnspython and the ECDSA of `cryptography`, and shares no code with the plug.

usage: registrar_program.py ADDRESS ZONE. Prints one JSON object per update: {"code", "lease", "key_lease", "names"}.
"""

import json
import socketserver
import struct
import sys
import threading

import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

KEY, SIG = 25, 24


class Refused(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Zone:
    def __init__(self, name, address):
        self.name = dns.name.from_text(name)
        self._lock = threading.Lock()
        self._owners = {}  # the key of each name
        self._records = []  # (name, type, time to live, data), with the key of their owner
        for label, kind, data in [("_dnssd-srp._tcp", "SRV", f"0 0 53 ns.{name}."), ("ns", "A", address)]:
            kind = dns.rdatatype.from_text(kind)
            data = dns.rdata.from_text(dns.rdataclass.IN, kind, data)
            self._records.append((dns.name.from_text(f"{label}.{name}"), kind, 60, data, None))

    def answer(self, wire):
        with self._lock:
            try:
                if wire[2] >> 3 & 15 != dns.opcode.UPDATE:
                    return self._query(dns.message.from_wire(wire))
                unsigned, signature = split(wire)
                return self._update(unsigned, signature)
            except (dns.exception.DNSException, struct.error, IndexError):
                return None

    def _query(self, query):
        response = dns.message.make_response(query)
        response.flags |= dns.flags.AA
        question = query.question[0]
        exists = False
        for name, kind, life, data, _ in self._records:
            exists = exists or name == question.name
            if name == question.name and kind == question.rdtype:
                found = dns.rrset.from_rdata(name, life, data)
                response.find_rrset(response.answer, name, dns.rdataclass.IN, kind, create=True).update(found)
        if not exists and question.name != self.name:
            response.set_rcode(dns.rcode.NXDOMAIN)
        return response.to_wire()

    def _update(self, wire, signature):
        message = dns.message.from_wire(wire)
        response = dns.message.make_response(message)
        told = {"code": 0, "names": []}
        try:
            self._perform(wire, signature, message, told)
        except Refused as refused:
            told["code"] = int(refused.code)
            response.set_rcode(refused.code)
        # A line is one write, because other threads print at the same time.
        print(json.dumps(told) + "\n", end="", flush=True)
        return response.to_wire()

    def _perform(self, wire, signature, message, told):
        if message.zone[0].name != self.name or message.prerequisite:
            raise Refused(dns.rcode.FORMERR)
        deleted, added, withdrawn, key = [], [], [], None
        for rrset in message.update:
            name = rrset.name
            if rrset.deleting == dns.rdataclass.ANY:
                deleted.append(name)
            elif rrset.deleting == dns.rdataclass.NONE:
                withdrawn += [(name, rrset.rdtype, data) for data in rrset]
            elif rrset.rdtype == KEY:
                host, key = name, rrset[0].to_wire()
            else:
                added += [(name, rrset.rdtype, rrset.ttl, data) for data in rrset]
        if key is None or host not in deleted:
            raise Refused(dns.rcode.FORMERR)  # no host description
        for name, kind, _, data in added:
            if kind == dns.rdatatype.SRV and (data.target != host or name not in deleted):
                raise Refused(dns.rcode.FORMERR)
            if kind == dns.rdatatype.PTR and data.target not in deleted:
                raise Refused(dns.rcode.FORMERR)
        verify(wire, signature, host, key)
        if any(self._owners.get(name, key) != key for name in deleted):
            raise Refused(dns.rcode.YXDOMAIN)
        lease, key_lease = leases(message)
        told.update(lease=lease, key_lease=key_lease, names=[name.to_text() for name in deleted])
        for name in deleted:
            self._owners[name] = key
        gone = [(name, kind, data) for name, kind, data in withdrawn]
        self._records = [
            record for record in self._records
            if not (lease == 0 and record[4] == key) and record[0] not in deleted and (record[0], record[1], record[3]) not in gone]
        for name, kind, life, data in added:
            self._records = [record for record in self._records if (record[0], record[1], record[3]) != (name, kind, data)]
            self._records.append((name, kind, life, data, key))


def leases(message):
    for option in message.options:
        if option.otype == 2:
            data = option.to_wire()
            return struct.unpack("!II" if len(data) == 8 else "!I", data)
    raise Refused(dns.rcode.FORMERR)


def skip_name(wire, offset):
    while wire[offset]:
        if wire[offset] >= 0xC0:
            return offset + 2
        offset += 1 + wire[offset]
    return offset + 1


def split(wire):
    """Returns a message without its last record, and the data of this record if it is a signature, otherwise None."""
    counts = struct.unpack("!4H", wire[4:12])
    offset = 12
    for _ in range(counts[0]):
        offset = skip_name(wire, offset) + 4
    for _ in range(sum(counts[1:])):
        start = offset
        offset = skip_name(wire, offset)
        kind, _, _, length = struct.unpack("!HHIH", wire[offset:offset + 10])
        data = wire[offset + 10:offset + 10 + length]
        offset += 10 + length
    unsigned = wire[:10] + struct.pack("!H", counts[3] - 1) + wire[12:start]
    return unsigned, data if kind == SIG and offset == len(wire) else None


def verify(wire, data, host, key):
    """Verifies the signature of a message (RFC 2931 §3.1), which is the data of its record."""
    if data is None:
        raise Refused(dns.rcode.REFUSED)
    signer, used = dns.name.from_wire(data, 18)
    if signer != host or data[2] != 13 or key[:4] != bytes([2, 1, 3, 13]):
        raise Refused(dns.rcode.REFUSED)
    signature = data[18 + used:]
    numbers = [int.from_bytes(part, "big") for part in (key[4:36], key[36:], signature[:32], signature[32:])]
    public = ec.EllipticCurvePublicNumbers(numbers[0], numbers[1], ec.SECP256R1()).public_key()
    try:
        public.verify(encode_dss_signature(numbers[2], numbers[3]), data[:18 + used] + wire, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise Refused(dns.rcode.REFUSED) from None


class Stream(socketserver.StreamRequestHandler):
    def handle(self):
        while length := self.rfile.read(2):
            answer = zone.answer(self.rfile.read(struct.unpack("!H", length)[0]))
            if answer is None:
                return
            self.wfile.write(struct.pack("!H", len(answer)) + answer)


class Datagram(socketserver.BaseRequestHandler):
    def handle(self):
        data, socket = self.request
        if (answer := zone.answer(data)) is not None:
            socket.sendto(answer, self.client_address)


zone = Zone(sys.argv[2], sys.argv[1])
socketserver.ThreadingTCPServer.allow_reuse_address = True
for server in [socketserver.ThreadingTCPServer((sys.argv[1], 53), Stream), socketserver.ThreadingUDPServer((sys.argv[1], 53), Datagram)]:
    threading.Thread(target=server.serve_forever).start()
print(json.dumps({"ready": True}), flush=True)
