#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stands in for a user's systemd on a private bus, as far as approval-run asks it: makes the
cgroup of a transient scope below FOLDER, gives it to UID, and moves the processes into it.

    systemd_stand_in.py FOLDER UID
"""
import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

FOLDER, UID = sys.argv[1], int(sys.argv[2])
NAME = "org.freedesktop.systemd1"


class Manager(dbus.service.Object):
    @dbus.service.method(NAME + ".Manager", in_signature="ssa(sv)a(sa(sv))", out_signature="o")
    def StartTransientUnit(self, name, mode, properties, aux):
        given = {str(k): v for k, v in properties}
        assert mode == "fail" and not aux and given["Delegate"] and "CollectMode" in given
        path = os.path.join(FOLDER, str(name))
        # as systemd does, only after the answer
        GLib.idle_add(self.make, path, [int(p) for p in given["PIDs"]])
        return dbus.ObjectPath("/org/freedesktop/systemd1/job/1")

    def make(self, path, pids):
        os.mkdir(path)
        for entry in [path] + [os.path.join(path, f) for f in os.listdir(path)]:
            os.chown(entry, UID, -1)
        for pid in pids:
            with open(os.path.join(path, "cgroup.procs"), "w") as f:
                f.write(str(pid))
        return False


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
name = dbus.service.BusName(NAME, bus)
manager = Manager(bus, "/org/freedesktop/systemd1")
print("ready", flush=True)
GLib.MainLoop().run()
