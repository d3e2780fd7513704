"""Logos: what is taken, what is refused, and that none reaches out."""

import io
import struct
import zlib
from dataclasses import replace

import pytest
from PIL import Image, ImageChops

from fe.printing import BadLogo, FiscalStanding, PaperSize, PrintOptions, pdf
from fe.printing.logo import MAX_BYTES, read_logo
from tests.printing import reading
from tests.printing.documents import GOLDEN, signed

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><path d="M0 0h40v20z" fill="#c00"/></svg>'


def png(width: int = 40, height: int = 20) -> bytes:
    made = io.BytesIO()
    Image.new("RGBA", (width, height), (200, 0, 0, 255)).save(made, "PNG")
    return made.getvalue()


def lying_png() -> bytes:
    """A PNG whose header says that it has a milliard of pixels."""
    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))


def drawing(inside: bytes) -> bytes:
    return SVG.replace(b"<path", inside + b"<path")


@pytest.mark.parametrize("logo", [png(), SVG], ids=["png", "svg"])
@pytest.mark.parametrize("layout", PaperSize)
def test_logo_is_printed_on_every_layout(layout: PaperSize, logo: bytes) -> None:
    without, with_ = (
        reading.pages(pdf(signed(GOLDEN[0]), PrintOptions(layout=layout, logo=given)))[0] for given in (None, logo)
    )

    assert with_.text == without.text
    assert _red(with_.picture) > 500 > _red(without.picture)


def _red(picture: Image.Image) -> int:
    red, green, _ = picture.convert("RGB").split()
    both = ImageChops.darker(red.point(lambda value: value > 150), green.point(lambda value: value < 60))
    return both.histogram()[1]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        b"\xff\xd8\xff\xe0 jpeg",
        png()[:60],
        lying_png(),
        png(1000, 20),
        b"x" * (MAX_BYTES + 1),
        drawing(b"<script>1</script>"),
        drawing(b'<image href="http://127.0.0.1/x.png"/>'),
        drawing(b'<image href="/etc/passwd"/>'),
        drawing(b'<text x="0" y="9">A</text>'),
        drawing(b'<g fill="url(http://127.0.0.1/#a)"/>'),
        drawing(b"<style>*{}</style>"),
        drawing(b"<g/>" * 3_000),
        b'<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG,
        SVG.replace(b"viewBox", b"box"),
        SVG.replace(b"M0 0h40v20z", b"what is this"),
        b"<html/>",
    ],
    ids=range(18),
)
def test_logo_that_is_none_or_beyond_the_bounds_is_refused(data: bytes) -> None:
    with pytest.raises(BadLogo):
        read_logo(data)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"\xff\xd8\xff\xe0 jpeg", "JPEG"),
        (drawing(b"<script>1</script>"), "<script>"),
        (drawing(b"<text>A</text>"), "<text>"),
        (SVG.replace(b"<path", b'<path id="x" d="M0 0' + b"L9 9" * 9_000 + b'"/><path'), "32 kB"),
        (SVG.replace(b'<path d="M0 0h40v20z" fill="#c00"/>', b""), "one shape"),
        (SVG.replace(b"viewBox", b"box"), "viewBox"),
    ],
    ids=["jpeg", "script", "text", "heavy", "empty", "without a size"],
)
def test_refused_logo_says_what_is_wrong_with_it(data: bytes, named: str) -> None:
    with pytest.raises(BadLogo, match=named):
        read_logo(data)


def test_comments_and_the_document_type_of_a_drawing_program_are_passed_over() -> None:
    exported = (
        b'<?xml version="1.0"?><!-- Generator: <b> --><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">' + SVG
    )

    assert read_logo(exported).is_svg


@pytest.mark.parametrize("layout", [PaperSize.LETTER, PaperSize.ROLL_80])
def test_what_an_svg_draws_outside_of_its_box_covers_nothing(layout: PaperSize) -> None:
    over_all = SVG.replace(b"<path", b'<rect x="-5000" y="-5000" width="10000" height="10000" fill="#fff"/><path')
    options = PrintOptions(layout=layout, standing=FiscalStanding.VOID)

    usual, covered = (reading.pages(pdf(signed(GOLDEN[0]), replace(options, logo=logo)))[0] for logo in (SVG, over_all))

    difference = ImageChops.difference(usual.picture.convert("RGB"), covered.picture.convert("RGB")).getbbox()
    assert difference is None or difference[3] < usual.picture.height / 4, "beside the logo all is as it was"
