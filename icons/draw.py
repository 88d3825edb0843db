#!/usr/bin/env python3
"""Draws all icons from the two shapes of icon.svg, with nothing but the standard library: python3 icons/draw.py

The pictures are committed; run this only to change them. The tray has three shapes, not three colours: plain, a dot
(a card waits), a ring (a task runs).
"""
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent
BLUE, WHITE, AMBER = (0x1D, 0x4E, 0x9E), (255, 255, 255), (0xF5, 0x9E, 0x0B)
PLANE = [(7.5, 12.2), (16.5, 7.2), (13.9, 16.4), (11.7, 13.1)]
BADGE = (18.0, 17.6)
SAMPLES = 8


def shield(x, y, grow=0.0):
    if y > 11:
        return (x - 12) ** 2 + (y - 11) ** 2 <= (9 + grow) ** 2
    if not (3 - grow <= x <= 21 + grow and 3 - grow <= y):
        return False
    corner = 2.5
    if y < 3 + corner and (x < 3 + corner or x > 21 - corner):
        cx = 3 + corner if x < 12 else 21 - corner
        return (x - cx) ** 2 + (y - 3 - corner) ** 2 <= (corner + grow) ** 2
    return True


def plane(x, y):
    inside = False
    for (x1, y1), (x2, y2) in zip(PLANE, PLANE[1:] + PLANE[:1]):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside


def app(x, y):
    if plane(x, y):
        return WHITE
    return BLUE if shield(x, y) else None


def tray(badge):
    def colour(x, y):
        away = ((x - BADGE[0]) ** 2 + (y - BADGE[1]) ** 2) ** 0.5
        if badge and away <= 4.9:
            if badge == "dot":
                return AMBER if away <= 3.9 else None
            return WHITE if away <= 3.9 and away >= 3.3 else BLUE if 1.9 <= away <= 3.3 else WHITE if away >= 1.3 and away <= 1.9 else None
        if plane(x, y):
            return WHITE
        if shield(x, y):
            return BLUE
        return WHITE if shield(x, y, 0.7) else None
    return colour


def picture(size, colour):
    """Bytes of a PNG of size x size, 8-bit RGBA."""
    rows = bytearray()
    for row in range(size):
        rows.append(0)
        for column in range(size):
            hits, total = 0, [0, 0, 0]
            for sy in range(SAMPLES):
                for sx in range(SAMPLES):
                    x = 2 + (column + (sx + 0.5) / SAMPLES) * 20 / size
                    y = 1.5 + (row + (sy + 0.5) / SAMPLES) * 20 / size
                    found = colour(x, y)
                    if found:
                        hits += 1
                        total = [have + more for have, more in zip(total, found)]
            rows += bytes([*(round(part / hits) for part in total), round(255 * hits / SAMPLES**2)] if hits else [0] * 4)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b"")


def ico(pictures):
    out, place = struct.pack("<HHH", 0, 1, len(pictures)), 6 + 16 * len(pictures)
    for size, data in pictures:
        out += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), place)
        place += len(data)
    return out + b"".join(data for _, data in pictures)


def icns(pictures):
    body = b"".join(kind + struct.pack(">I", len(data) + 8) + data for kind, data in pictures)
    return b"icns" + struct.pack(">I", len(body) + 8) + body


def main():
    made = {size: picture(size, app) for size in (16, 32, 48, 128, 256, 512)}
    files = {
        "32x32.png": made[32],
        "128x128.png": made[128],
        "128x128@2x.png": made[256],
        "icon.png": made[512],
        "icon.ico": ico([(size, made[size]) for size in (16, 32, 48, 256)]),
        "icon.icns": icns([(b"ic07", made[128]), (b"ic08", made[256]), (b"ic09", made[512])]),
        "tray-plain.png": picture(32, tray(None)),
        "tray-waiting.png": picture(32, tray("dot")),
        "tray-running.png": picture(32, tray("ring")),
    }
    for name, data in files.items():
        (HERE / name).write_bytes(data)
        print(f"{name} {len(data)} bytes")


if __name__ == "__main__":
    main()
