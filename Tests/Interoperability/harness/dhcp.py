"""DHCP servers on a host of the LAN: dnsmasq, isc-dhcp-server, Kea, and a scripted one. Their files are in the host's
own /run."""

import ipaddress
import json
import pathlib
import sys
from dataclasses import dataclass, field

PROGRAM = pathlib.Path(__file__).with_name("dhcp_program.py")


@dataclass
class Network:
    """The addresses and settings that a server offers. Times are in seconds; None for T1 and T2 means half and 7/8 of the
    lease (RFC 2131 section 4.4.5)."""
    first: str = "10.7.0.200"
    last: str = "10.7.0.220"
    prefix: int = 24
    lease: int = 3600
    t1: int | None = None
    t2: int | None = None
    router: str | None = "10.7.0.1"
    name_servers: list = field(default_factory=lambda: ["10.7.0.2", "10.7.0.3"])
    time_servers: list = field(default_factory=lambda: ["10.7.0.4"])
    domain: str = "home.example"
    search: list = field(default_factory=lambda: ["home.example", "example.org"])
    # Pairs of destination and router; they replace the default route (RFC 3442).
    routes: list = field(default_factory=list)

    @classmethod
    def brief(cls, kind):
        """Returns a network with the shortest lease of this kind of server, but at least 20 s. For dnsmasq, whose shortest lease is 120 s,
        T1 is 38 s: dnsmasq subtracts up to a sixteenth of the lease, 7.5 s, from T1 and T2, and the plug ignores a T1 below 30 s."""
        return cls(lease=20) if kind.shortest_lease <= 20 else cls(lease=kind.shortest_lease, t1=38, t2=47)

    @property
    def subnet(self):
        return ipaddress.ip_network(f"{self.first}/{self.prefix}", strict=False)

    @property
    def renewal(self):
        return self.lease / 2 if self.t1 is None else self.t1

    @property
    def rebinding(self):
        return self.lease * 7 / 8 if self.t2 is None else self.t2

    def holds(self, address):
        return ":" not in address and (
            ipaddress.ip_address(self.first) <= ipaddress.ip_address(address) <= ipaddress.ip_address(self.last))


class Server:
    """A DHCP server, which is started when the object is created. It keeps its leases over `stop()` and `start()`."""
    name = ""
    shortest_lease = 1

    def __init__(self, host, network=None, interface="eth0"):
        self.host, self.interface = host, interface
        self.network = network or Network()
        self.host.run("mkdir", "-p", "/run/dhcp")
        self.start()

    def start(self):
        self.prepare()
        self.running = self.host.start(*self.words(), name=self.name)
        self.running.seen(lambda line: self.ready in line.text, 10, "that it is up")

    def stop(self):
        self.running.stop()

    def change(self, network):
        """Restarts the server for a different network. The server is authoritative, so it refuses addresses of the old
        network. Kea instead ignores requests for them."""
        self.stop()
        self.network = network
        self.start()

    def prepare(self):
        pass

    def write(self, name, text):
        pathlib.Path(f"/proc/{self.host.process_id}/root/run/dhcp/{name}").write_text(text)


class Dnsmasq(Server):
    name, ready = "dnsmasq", "sockets bound exclusively"
    shortest_lease = 120

    def words(self):
        net = self.network
        options = {"option:router": [net.router or ""], "option:dns-server": net.name_servers,
                   "option:ntp-server": net.time_servers, "option:domain-name": [net.domain],
                   "option:domain-search": net.search, "58": [f"{int(net.renewal)}i"], "59": [f"{int(net.rebinding)}i"]}
        if net.routes:
            options["option:classless-static-route"] = [word for route in net.routes for word in route]
        given = [f"--dhcp-option-force={number}" if value == [""] else f"--dhcp-option={number},{','.join(value)}"
                 for number, value in options.items() if value]
        return [
            "dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--port=0", f"--interface={self.interface}",
            "--bind-interfaces", "--no-ping", "--dhcp-authoritative", "--log-dhcp", "--dhcp-leasefile=/run/dhcp/dnsmasq.leases",
            "--pid-file", "--no-resolv", "--no-hosts", "--user=root",
            f"--dhcp-range={net.first},{net.last},{net.subnet.netmask},{net.lease}", *given]


class ISC(Server):
    name, ready = "isc-dhcp-server", "Server starting service."

    def words(self):
        return ["dhcpd", "-4", "-f", "-d", "--no-pid", "-cf", "/run/dhcp/dhcpd.conf", "-lf", "/run/dhcp/dhcpd.leases",
                self.interface]

    def prepare(self):
        net = self.network
        self.host.run("touch", "/run/dhcp/dhcpd.leases")
        options = {
            "routers": net.router, "domain-name-servers": ", ".join(net.name_servers), "ntp-servers": ", ".join(net.time_servers),
            "domain-name": f'"{net.domain}"', "domain-search": ", ".join(f'"{name}"' for name in net.search),
            "dhcp-renewal-time": int(net.renewal), "dhcp-rebinding-time": int(net.rebinding)}
        if net.routes:
            options["classless-routes"] = ", ".join(
                str(byte) for destination, router in net.routes for byte in compressed(destination, router))
        lines = "".join(f"  option {name} {value};\n" for name, value in options.items() if value)
        self.write("dhcpd.conf", f"""
authoritative; ping-check false; ddns-update-style none;
option classless-routes code 121 = array of unsigned integer 8;
default-lease-time {net.lease}; max-lease-time {net.lease}; min-lease-time {net.lease};
subnet {net.subnet.network_address} netmask {net.subnet.netmask} {{
  range {net.first} {net.last};
{lines}}}
""")


class Kea(Server):
    name, ready = "kea-dhcp4-server", "DHCP4_STARTED"

    def words(self):
        return ["env", "KEA_LOCKFILE_DIR=/run/dhcp", "KEA_PIDFILE_DIR=/run/dhcp", "kea-dhcp4", "-c", "/run/dhcp/kea.json"]

    def prepare(self):
        net = self.network
        options = {
            "routers": net.router, "domain-name-servers": ", ".join(net.name_servers), "ntp-servers": ", ".join(net.time_servers),
            "domain-name": net.domain, "domain-search": ", ".join(net.search)}
        data = [{"name": name, "data": value} for name, value in options.items() if value]
        if net.routes:
            routes = bytes(byte for destination, router in net.routes for byte in compressed(destination, router))
            data.append({"code": 121, "space": "dhcp4", "csv-format": False, "data": routes.hex()})
        self.write("kea.json", json.dumps({"Dhcp4": {
            "interfaces-config": {"interfaces": [self.interface]}, "authoritative": True,
            "lease-database": {"type": "memfile", "persist": True, "name": "/run/dhcp/kea.leases", "lfc-interval": 0},
            "valid-lifetime": net.lease, "renew-timer": int(net.renewal), "rebind-timer": int(net.rebinding),
            "subnet4": [{"id": net.subnet.network_address.packed[1], "subnet": str(net.subnet), "pools": [{"pool": f"{net.first} - {net.last}"}], "option-data": data}],
            "loggers": [{"name": "kea-dhcp4", "severity": "INFO", "output_options": [{"output": "stdout", "flush": True}]}],
        }}))


SERVERS = (Dnsmasq, ISC, Kea)


class Scripted:
    """The scripted server; dhcp_program.py documents `answer` and `lies`."""

    def __init__(self, host, answer="honest", lies=(), address="10.7.0.200", lease=3600, server=None, options=None, interface="eth0"):
        self.host, self.server = host, server or host.ipv4
        script = {"server": self.server, "address": address, "lease": lease, "answer": answer, "lies": lies,
                  "options": {number: value.hex() for number, value in (options or {}).items()}}
        self.running = host.start(sys.executable, PROGRAM, interface, json.dumps(script), name="scripted DHCP server")
        self.running.seen_object(lambda told: told["event"] == "ready", 10, "that it is up")

    def received(self, kind=None):
        told = [line.json for line in list(self.running.lines) if line.json and line.json["event"] != "ready"]
        return [message for message in told if kind in (None, message["event"])]

    def stop(self):
        self.running.stop()


def compressed(destination, router):
    """Encodes a route as RFC 3442 does: only those bytes of the network that its prefix covers."""
    network = ipaddress.ip_network(destination)
    return [network.prefixlen, *network.network_address.packed[:(network.prefixlen + 7) // 8], *ipaddress.ip_address(router).packed]
