#!/usr/bin/python3
"""Stands in for a desktop that shows tray icons: owns the watcher's name on the session bus and accepts whoever registers."""
import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

INTERFACE = """<node><interface name="org.kde.StatusNotifierWatcher">
<method name="RegisterStatusNotifierItem"><arg direction="in" type="s"/></method>
<method name="RegisterStatusNotifierHost"><arg direction="in" type="s"/></method>
<property name="RegisteredStatusNotifierItems" type="as" access="read"/>
<property name="IsStatusNotifierHostRegistered" type="b" access="read"/>
<property name="ProtocolVersion" type="i" access="read"/>
<signal name="StatusNotifierItemRegistered"><arg type="s"/></signal>
</interface></node>"""

items = []


def on_call(connection, sender, path, interface, method, arguments, invocation):
    if method == "RegisterStatusNotifierItem":
        items.append(f"{sender} {arguments.unpack()[0]}")
        print(items[-1], flush=True)
    invocation.return_value(None)


def on_get(connection, sender, path, interface, name):
    values = {
        "RegisteredStatusNotifierItems": GLib.Variant("as", items),
        "IsStatusNotifierHostRegistered": GLib.Variant("b", True),
        "ProtocolVersion": GLib.Variant("i", 0),
    }
    return values[name]


def on_bus(connection, name):
    interface = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0]
    connection.register_object("/StatusNotifierWatcher", interface, on_call, on_get, None)


Gio.bus_own_name(Gio.BusType.SESSION, "org.kde.StatusNotifierWatcher", Gio.BusNameOwnerFlags.NONE, on_bus, None, None)
GLib.MainLoop().run()
