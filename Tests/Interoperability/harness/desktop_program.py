"""A desktop's notification service, run by Debian's Python, which has the modules for D-Bus. It prints each notification as
a line of JSON.

Usage: desktop_program.py CAPABILITY... [--hang | --refuse]: with --hang it sends no answer, with --refuse an error."""

import json
import sys
import time

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


class Desktop(dbus.service.Object):
    def __init__(self, bus, capabilities, manner):
        super().__init__(bus, PATH)
        self.capabilities, self.manner, self.last = capabilities, manner, 0

    @dbus.service.method(NAME, out_signature="as")
    def GetCapabilities(self):
        return self.capabilities

    @dbus.service.method(NAME, out_signature="ssss")
    def GetServerInformation(self):
        return "Desktop", "smartplug", "1", "1.2"

    @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, application, replaces, icon, summary, body, actions, hints, timeout):
        self.last += 1
        told = {"application": str(application), "summary": str(summary), "body": str(body), "timeout": int(timeout),
                "urgency": int(hints.get("urgency", -1)), "actions": len(actions), "replaces": int(replaces)}
        print(json.dumps(told), flush=True)
        if self.manner == "--hang":
            time.sleep(600)
        if self.manner == "--refuse":
            raise dbus.DBusException("the screen is locked", name="org.example.Locked")
        return self.last


words = [word for word in sys.argv[1:] if not word.startswith("--")]
manner = next((word for word in sys.argv[1:] if word.startswith("--")), None)
DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName(NAME, bus)
Desktop(bus, dbus.Array(words, signature="s"), manner)
print("ready", flush=True)
GLib.MainLoop().run()
