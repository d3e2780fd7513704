"""Forms as other people's clients write them."""

import pytest

from fe.simulator.multipart import NoPart, Part, read_xml_part

TYPE = "multipart/form-data; boundary=b"


def form(*parts: bytes, end: bytes = b"--b--\r\n") -> bytes:
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + end


XML = b'Content-Disposition: form-data; name="xml"; filename="a.xml"\r\n\r\n<a/>'


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        pytest.param(TYPE, form(XML), id="plain"),
        pytest.param('Multipart/Form-Data;boundary="b"', form(XML), id="quoted boundary"),
        pytest.param(TYPE, b"preamble\r\n" + form(XML), id="preamble"),
        pytest.param(TYPE, form(XML).replace(b"\r\n", b"\n"), id="bare line feeds"),
        pytest.param(TYPE, form(b'Content-Disposition: form-data; name="x"\r\n\r\n1', XML), id="another part first"),
        pytest.param(TYPE, form(b"X-Other: 1\r\n" + XML), id="other headers"),
    ],
)
def test_the_part_is_found(content_type: str, body: bytes) -> None:
    assert read_xml_part(content_type, body) == Part("a.xml", b"<a/>")


def test_the_content_is_kept_to_the_byte() -> None:
    content = b'\xef\xbb\xbf<a>\r\n--\r\n--bc "\x00" \n\n</a>\r\n'
    body = form(b'Content-Disposition: form-data; name="xml"; filename="a.xml"\r\n\r\n' + content)

    assert read_xml_part(TYPE, body).content == content


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        (b"form-data; name=xml; filename=a.xml; filename*=utf-8''b.xml", "a.xml"),
        (b"form-data; name=xml; filename*=UTF-8''a%20b.xml", "a b.xml"),
        (b'form-data; filename="a.xml"; name="XML"', "a.xml"),
        (b'form-data; name="xml"; filename="C:\\dir\\a.xml"', "a.xml"),
        (b"form-data;name=xml;filename=../../a.xml", "a.xml"),
    ],
)
def test_the_file_name_is_read(disposition: bytes, name: str) -> None:
    body = form(b"Content-Disposition: " + disposition + b"\r\n\r\n<a/>")

    assert read_xml_part(TYPE, body).file_name == name


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/xml", b"<a/>"),
        ("multipart/form-data", form(XML)),
        (TYPE, b""),
        (TYPE, b"--b--\r\n"),
        (TYPE, form(b'Content-Disposition: form-data; name="file"; filename="a.xml"\r\n\r\n<a/>')),
        (TYPE, form(b'Content-Disposition: form-data; name="xml"\r\n\r\n<a/>')),
        (TYPE, form(b'Content-Disposition: form-data; name="xml"; filename="a.xml"\r\n\r\n')),
        (TYPE, form(b"no blank line")),
        (TYPE, form(XML, end=b"")),
        (TYPE, form(XML)[:-8]),
        (TYPE, form(XML, end=b"trailing")),
    ],
)
def test_unusable_part_is_reported(content_type: str, body: bytes) -> None:
    with pytest.raises(NoPart):
        read_xml_part(content_type, body)
