"""Houses behind routers that translate addresses, and the internet between them."""

import json
import signal


def link_local(host, interface):
    return next(address["local"] for address in host.addresses(interface, 6) if address["scope"] == "link")


class Internet:
    """A link with the addresses 11.7.0.0/24. Routers that map ports refuse to have an address that is reserved for documentation."""

    def __init__(self, lan):
        self.link = lan.link()
        self._count = 0

    def join(self, host, interface):
        """Connects a host, and returns its address."""
        self._count += 1
        address = f"11.7.0.{self._count}"
        host.connect(interface, ipv4=False, link=self.link)
        host.run("ip", "address", "add", f"{address}/24", "dev", interface)
        return address

    def host(self):
        """Adds a host with the attribute `address`."""
        host = self.link.host(connected=False)
        host.address = self.join(host, "eth0")
        return host


class Router:
    """A router between a house (eth0) and the internet (eth1). `maps` starts miniupnpd, which maps ports by PCP and NAT-PMP, or only by
    UPnP IGD if `upnp` is true. With `prefix`, such as 2001:db8:1, hosts of the house have IPv6 addresses, to which the internet's hosts
    cannot connect unless PCP permits it."""

    def __init__(self, internet, house, folder, maps=True, upnp=False, prefix=None):
        self.host = house.host()
        self.address = internet.join(self.host, "eth1")
        self._folder, self._upnp, self._prefix = folder, upnp, prefix
        folder.mkdir()
        (folder / "rules").write_text("""
            table inet filter {
                chain forward {
                    type filter hook forward priority 0; policy drop;
                    ct state established,related accept
                    iifname eth0 accept
                    jump miniupnpd
                }
                chain miniupnpd { }
                chain prerouting { type nat hook prerouting priority -100; jump prerouting_miniupnpd; }
                chain postrouting { type nat hook postrouting priority 100; oifname eth1 masquerade; }
                chain prerouting_miniupnpd { }
                chain postrouting_miniupnpd { }
            }
            """)
        self.host.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        if prefix:
            self.host.run("ip", "address", "add", f"{prefix}::1/64", "dev", "eth0")
        self.host.run("nft", "-f", folder / "rules")
        if maps:
            self.start()

    def start(self):
        configuration = self._folder / "miniupnpd.conf"
        configuration.write_text("\n".join([
            "ext_ifname=eth1", "listening_ip=eth0", f"ipv6_disable={'no' if self._prefix else 'yes'}", f"enable_natpmp={'no' if self._upnp else 'yes'}",
            f"enable_upnp={'yes' if self._upnp else 'no'}", "system_uptime=no",
            "upnp_forward_chain=miniupnpd", "upnp_nat_chain=prerouting_miniupnpd", "upnp_nat_postrouting_chain=postrouting_miniupnpd",
            "uuid=00000000-0000-0000-0000-000000000000", "allow 1024-65535 0.0.0.0/0 1024-65535"]) + "\n")
        self._mapping = self.host.start("miniupnpd", "-d", "-f", configuration, "-P", self._folder / "pid")

    def restart(self):
        """Restarts the program that maps ports, which forgets all mappings, and lets it announce that."""
        self._mapping.stop()
        for chain in ["miniupnpd", "prerouting_miniupnpd", "postrouting_miniupnpd"]:
            self.host.run("nft", "flush", "chain", "inet", "filter", chain)
        self.start()
        self._mapping.seen(lambda line: "Listening for NAT-PMP" in line.text, 10, "that it listens")
        self._announce()

    def _announce(self):
        """Lets miniupnpd announce its address, as the scripts of an internet connection do."""
        self._mapping.process.send_signal(signal.SIGUSR1)

    def change_address(self, address):
        """Replaces the external address."""
        self.host.run("ip", "address", "add", f"{address}/24", "dev", "eth1")
        self.host.run("ip", "address", "delete", f"{self.address}/24", "dev", "eth1")
        # The deletion of a primary address removes the secondary ones too.
        self.host.finish("ip", "address", "add", f"{address}/24", "dev", "eth1")
        self.address = address
        self._announce()

    def serve(self, host):
        """Makes this the default router of a host in the house."""
        host.run("ip", "route", "replace", "default", "via", self.host.ipv4)
        if self._prefix:
            host.run("ip", "address", "add", self.address6(host), "dev", "eth0")
            host.run("ip", "route", "replace", "default", "via", link_local(self.host, "eth0"), "dev", "eth0")

    def address6(self, host):
        """The IPv6 address of a host in the house."""
        return f"{self._prefix}::{host.number:x}/64"

    def lead(self, host):
        """Gives a host of the internet a route to the house."""
        host.run("ip", "route", "add", f"{self._prefix}::/64", "via", link_local(self.host, "eth1"), "dev", "eth0")

    def mapped_ports(self):
        """The external ports that lead into the house."""
        found = json.loads(self.host.run("nft", "-j", "list", "chain", "inet", "filter", "prerouting_miniupnpd"))["nftables"]
        matches = [part["match"] for entry in found if "rule" in entry for part in entry["rule"]["expr"] if "match" in part]
        return {match["right"] for match in matches if match["left"].get("payload", {}).get("field") == "dport"}
