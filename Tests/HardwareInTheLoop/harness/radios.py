"""Three simulated radios: the plug's one, and those of a router and of a phone, which are hosts of their own. hostapd and wpa_supplicant are
Debian's."""

import shutil

from deadlines import eventually

# Programs of this machine that run in the guest.
PROGRAMS = [path for path in map(shutil.which, ("hostapd", "wpa_supplicant", "iw")) if path]
MODULES = ["rfkill", "libarc4", "cfg80211", "mac80211", "ctr", "ccm", "cmac"]


class Radios:
    def __init__(self, guest):
        self.guest = guest
        guest.does(f"""
            for m in {' '.join(MODULES)}; do lsmod | grep -q "^$m " || insmod /modules/$m.ko || true; done
            rmmod mac80211_hwsim 2>/dev/null; insmod /modules/mac80211_hwsim.ko radios=3; mkdir -p /var/run /tmp/radios""")
        self.router, self.phone = Host(guest, "router", 1), Host(guest, "phone", 2)
        guest.does("wpa_supplicant -B -i wlan0 -C /tmp/radios/control -f /tmp/radios/plug.log && echo $(pidof wpa_supplicant) >>/run/started", within=30)

    def close(self):
        self.guest.run("killall -9 hostapd wpa_supplicant udhcpd udhcpc sleep; rmmod mac80211_hwsim")

    def serve(self, name, password, channel=1):
        """Starts the router, or restarts it with other settings."""
        self.stop_router()
        self.guest.write("/tmp/radios/hostapd.conf", "\n".join([
            "interface=wlan1", f"ssid={name}", f"channel={channel}", "hw_mode=g", "wpa=2", f"wpa_passphrase={password}", "wpa_key_mgmt=WPA-PSK",
            "rsn_pairwise=CCMP", ""]))
        self.guest.write("/tmp/radios/udhcpd.conf", "\n".join([
            "start 10.9.0.10", "end 10.9.0.20", "interface wlan1", "lease_file /tmp/radios/leases", "pidfile /tmp/radios/udhcpd.pid",
            "option subnet 255.255.255.0", "option router 10.9.0.1", "option lease 600", ""]))
        done = self.router.run(
            "ip address add 10.9.0.1/24 dev wlan1 2>/dev/null; touch /tmp/radios/leases; hostapd -B -f /tmp/radios/router.log /tmp/radios/hostapd.conf"
            " && udhcpd /tmp/radios/udhcpd.conf", within=30)
        assert done.status == 0, f"{done}\n{self.guest.run('cat /tmp/radios/router.log').text}"

    def stop_router(self):
        self.guest.run("killall hostapd udhcpd; while pidof hostapd >/dev/null; do usleep 50000; done")


class Host:
    """A host with one radio, in its own network namespace."""

    def __init__(self, guest, name, number):
        self.guest, self.name = guest, name
        self.process = guest.does("unshare -n sleep 1000000 >/dev/null 2>&1 & echo $!").strip()
        guest.does(f"echo {self.process} >>/run/started")
        self.interface = f"wlan{number}"
        # The name of the radio follows from its interface, because the numbers of radios continue after the modules were loaded again.
        guest.does(
            f"sleep 0.2; iw phy $(cat /sys/class/net/{self.interface}/phy80211/name) set netns {self.process} && nsenter -t {self.process} -n"
            f" sh -c 'ip link set lo up; ip link set {self.interface} up'")

    def run(self, command, within=20):
        self.guest.write("/run/within", command)
        return self.guest.run(f"nsenter -t {self.process} -n sh /run/within", within)

    def does(self, command, within=20):
        done = self.run(command, within)
        assert done.status == 0, f"{self.name}: {done}"
        return done.text

    def join(self, name, password):
        """Joins a network, and gets an address by DHCP."""
        self.guest.write("/tmp/radios/phone.conf", f'network={{\n ssid="{name}"\n psk="{password}"\n}}\n')
        self.guest.write("/tmp/radios/lease", '#!/bin/sh\n[ "$1" = bound ] || exit 0\nip address flush dev $interface\n'
                         'ip address add $ip/$mask dev $interface\necho "$router $dns" >/tmp/radios/leased\n')
        self.does(
            f"killall udhcpc 2>/dev/null; kill $(cat /tmp/radios/phone.pid) 2>/dev/null; chmod +x /tmp/radios/lease; rm -f /tmp/radios/leased;"
            f" wpa_supplicant -B -P /tmp/radios/phone.pid -i {self.interface} -c /tmp/radios/phone.conf -f /tmp/radios/phone.log", within=30)
        eventually(
            lambda: self.run(f"iw dev {self.interface} link").text.startswith("Connected"), 30,
            lambda: f"the phone in {name}:\n{self.guest.run('tail /tmp/radios/phone.log').text}")
        self.does(f"udhcpc -i {self.interface} -n -q -t 10 -T 1 -s /tmp/radios/lease", within=30)
        return self.guest.does("cat /tmp/radios/leased").split()
