"""A receipt printer of the tests: reads ESC/POS bytes as lines, codes and cuts, and refuses what it does not know."""

from dataclasses import dataclass, field

from PIL import Image


@dataclass
class Printed:
    """Output of the printer: lines of text, each with its style, QR codes, pictures and cuts."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    pictures: list[Image.Image] = field(default_factory=list)
    modules: list[int] = field(default_factory=list)
    cuts: int = 0

    @property
    def text(self) -> str:
        return "\n".join(line for line, _ in self.lines)


def decode(data: bytes) -> Printed:
    printed = Printed()
    place, line, stored, style = 0, bytearray(), b"", set[str]()
    while place < len(data):
        byte = data[place : place + 1]
        two = data[place : place + 2]
        if byte == b"\n":
            printed.lines.append((line.decode("cp858"), "".join(sorted(style))))
            line, place = bytearray(), place + 1
        elif two == b"\x1b@":
            style.clear()
            place += 2
        elif two == b"\x1bt":
            assert data[place + 2] == 19, "not code page 858"
            place += 3
        elif two in (b"\x1ba", b"\x1bE", b"\x1d!"):
            name = {b"\x1ba": "c", b"\x1bE": "b", b"\x1d!": "t"}[two]
            (style.add if data[place + 2] else style.discard)(name)
            place += 3
        elif two == b"\x1dV":
            assert data[place + 2] == 0x42
            printed.cuts += 1
            place += 4
        elif data[place : place + 3] == b"\x1d(k":
            length = int.from_bytes(data[place + 3 : place + 5], "little")
            given = data[place + 5 : place + 5 + length]
            assert given[:1] == b"1"
            if given[1:2] == b"P":
                stored = given[3:]
            elif given[1:2] == b"C":
                printed.modules.append(given[2])
            elif given[1:2] == b"Q":
                printed.codes.append(stored.decode("ascii"))
            else:
                assert given[1:2] in (b"A", b"E")
            place += 5 + length
        elif data[place : place + 4] == b"\x1dv0\x00":
            wide = int.from_bytes(data[place + 4 : place + 6], "little")
            high = int.from_bytes(data[place + 6 : place + 8], "little")
            dots = bytes(255 - dot for dot in data[place + 8 : place + 8 + wide * high])
            printed.pictures.append(Image.frombytes("1", (wide * 8, high), dots))
            place += 8 + wide * high
        else:
            assert data[place] >= 0x20, f"an unknown command at {place}: {data[place : place + 8]!r}"
            line += byte
            place += 1
    assert not line
    return printed
