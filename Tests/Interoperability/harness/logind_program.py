"""logind's interface for suspends on a message bus, run by Debian's Python, which has the modules for D-Bus. Prints JSON objects:
{"event": "inhibit", "what", "who", "why", "mode"}, and {"event": "released", "why"} when the last copy of a lock is closed. The method
Announce of org.example.Test sends the signal PrepareForSleep."""

import json
import os

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME, PATH, MANAGER = "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


class Logind(dbus.service.Object):
    @dbus.service.method(MANAGER, in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        reading, writing = os.pipe()
        GLib.io_add_watch(reading, GLib.IO_HUP, self.released, str(why))
        tell("inhibit", what=str(what), who=str(who), why=str(why), mode=str(mode))
        lock = dbus.types.UnixFd(writing)
        os.close(writing)
        return lock

    def released(self, descriptor, condition, why):
        os.close(descriptor)
        tell("released", why=why)
        return False

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        if name != "InhibitDelayMaxUSec":
            raise dbus.DBusException("unknown property", name="org.freedesktop.DBus.Error.UnknownProperty")
        return dbus.UInt64(5_000_000)

    @dbus.service.signal(MANAGER, signature="b")
    def PrepareForSleep(self, begins):
        pass

    @dbus.service.method("org.example.Test", in_signature="b")
    def Announce(self, begins):
        self.PrepareForSleep(begins)


DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName(NAME, bus)
logind = Logind(bus, PATH)
print("ready", flush=True)
GLib.MainLoop().run()
