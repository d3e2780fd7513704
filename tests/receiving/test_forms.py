"""Forms as other programs write them, and malformed ones."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.http.reception.multipart import MAX_PARTS, BadForm, read_xml_part
from fe.simulator import multipart as simulators
from tests.receiving.supplier import BASE, Running, document, read

TYPE = "multipart/form-data; boundary=b"
HEAD = b'Content-Disposition: form-data; name="xml"; filename="a.xml"\r\n'


def form(*parts: bytes, end: bytes = b"--b--\r\n") -> bytes:
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + end


XML = HEAD + b"\r\n<a/>"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        pytest.param(TYPE, form(XML), id="plain"),
        pytest.param('Multipart/Form-Data;boundary="b"', form(XML), id="quoted boundary"),
        pytest.param("multipart/form-data; charset=utf-8; boundary=b", form(XML), id="a charset before"),
        pytest.param(TYPE, b"preamble\r\n" + form(XML), id="preamble"),
        pytest.param(TYPE, form(XML) + b"epilogue", id="epilogue"),
        pytest.param(TYPE, form(XML, end=b"--b--"), id="no line after the end"),
        pytest.param(TYPE, form(XML).replace(b"\r\n", b"\n"), id="bare line feeds"),
        pytest.param(TYPE, form(b'Content-Disposition: form-data; name="x"\r\n\r\n1', XML), id="another part first"),
        pytest.param(TYPE, form(b"X-Other: 1\r\n" + XML), id="other headers"),
        pytest.param(TYPE, form(HEAD + b"Content-Type: multipart/form-data\r\n\r\n<a/>"), id="wrong type of the part"),
        pytest.param(TYPE, form(HEAD + b"Content-Type: nonsense\r\n\r\n<a/>"), id="a type that is none"),
        pytest.param(TYPE, form(b'content-disposition: form-data; name="XML"\r\n\r\n<a/>'), id="no file name"),
        pytest.param(
            TYPE, form(b"Content-Disposition: form-data; name=xml; filename=a.xml\r\n\r\n<a/>"), id="unquoted"
        ),
        pytest.param(
            TYPE,
            form(
                b"Content-Disposition: form-data; name=xml; filename=aprobacionComercial.xml;"
                b" filename*=utf-8''aprobacionComercial.xml\r\n\r\n<a/>"
            ),
            id="as the authority's own counterparty sends it",
        ),
    ],
)
def test_the_part_is_found(content_type: str, body: bytes) -> None:
    assert read_xml_part(content_type, body) == b"<a/>"


def test_the_content_is_kept_to_the_byte() -> None:
    content = b'\xef\xbb\xbf<a>\r\n--\r\n--bc "\x00" \n\n</a>\r\n\r\n'

    assert read_xml_part(TYPE, form(HEAD + b"\r\n" + content)) == content


@pytest.mark.parametrize(
    ("content_type", "body", "says"),
    [
        ("application/xml", b"<a/>", "multipart/form-data"),
        ("", b"<a/>", "multipart/form-data"),
        ("multipart/form-data", form(XML), "boundary"),
        ("multipart/form-data; boundary=", form(XML), "boundary"),
        (f"multipart/form-data; boundary={'b' * 201}", form(XML), "boundary"),
        (TYPE, b"", "broken"),
        (TYPE, b"--b\r\n" + XML, "broken"),
        (TYPE, form(XML)[:-4], "broken"),
        (TYPE, form(b"<a/>"), "broken"),
        (TYPE, form(b"X: 1\r\n\r\n<a/>"), "broken"),
        (TYPE, form(b"Content-Disposition: form-data; name=\xff\r\n\r\n<a/>"), "broken"),
        (TYPE, b"--b--\r\n", "no part named xml"),
        (TYPE, form(XML.replace(b'"xml"', b'"file"')), "no part named xml"),
        (TYPE, form(b"Content-Disposition: form-data\r\n\r\n<a/>"), "no part named xml"),
        (TYPE, form(XML, XML), "several"),
        (TYPE, form(XML, XML.replace(b'"xml"', b'"XML"')), "several"),
        (TYPE, form(HEAD + b"\r\n  \r\n"), "empty"),
        (TYPE, form(HEAD + b"Content-Transfer-Encoding: base64\r\n\r\nPGEvPg=="), "encoding"),
        (TYPE, form(*[b'Content-Disposition: form-data; name="x"\r\n\r\n1'] * (MAX_PARTS + 1)), "more than"),
    ],
)
def test_unreadable_form_is_refused_with_a_fixed_message(content_type: str, body: bytes, says: str) -> None:
    with pytest.raises(BadForm, match=says):
        read_xml_part(content_type, body)


_QUOTE = st.sampled_from([b'"%b"', b"%b"])


@st.composite
def forms(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A form that is one, and the content of its part."""
    content = draw(st.binary(min_size=1, max_size=200).filter(lambda c: b"--b" not in c and c.strip() != b""))
    newline = draw(st.sampled_from([b"\r\n", b"\n"]))
    quoted = draw(_QUOTE)
    lines = [b"Content-Disposition: form-data; name=" + quoted % b"xml" + b"; filename=" + quoted % b"a.xml"]
    lines += draw(st.lists(st.sampled_from([b"Content-Type: text/xml", b"Content-Type:", b"X-A: 1"]), max_size=3))
    body = b"--b" + newline + newline.join(draw(st.permutations(lines))) + newline * 2 + content + newline + b"--b--"
    return body, content


@given(forms())
def test_part_content_is_unchanged_for_both_readers(made: tuple[bytes, bytes]) -> None:
    body, content = made

    ours = read_xml_part(TYPE, body)
    theirs = simulators.read_xml_part(TYPE, body).content

    # Where lines end in LF alone, a CR at the end of the content can be read as belonging to either.
    assert ours in (content, content.removesuffix(b"\r"))
    assert theirs in (content, content.removesuffix(b"\r"))


@given(
    st.binary(max_size=400),
    st.sampled_from([TYPE, "multipart/form-data; boundary=-", "multipart/form-data; boundary=b; b"]),
)
def test_no_bytes_do_more_than_be_refused(body: bytes, content_type: str) -> None:
    with suppress(BadForm):
        assert read_xml_part(content_type, body) in body


@given(
    st.lists(st.sampled_from([b"--b\r\n", b"--b--\r\n", HEAD, b"\r\n", b"\n", b"<a/>", b"Content-Type: x\r\n", b"--"]))
)
def test_nor_do_pieces_of_forms(pieces: list[bytes]) -> None:
    with suppress(BadForm):
        assert read_xml_part(TYPE, b"".join(pieces)) in b"".join(pieces)


def test_a_part_inside_a_part_is_content_and_nothing_else() -> None:
    inner = b'--c\r\nContent-Disposition: form-data; name="xml"\r\n\r\n<b/>\r\n--c--'
    outer = HEAD + b"Content-Type: multipart/mixed; boundary=c\r\n\r\n" + inner

    assert read_xml_part(TYPE, form(outer)) == inner


# --- over a socket ---------------------------------------------------------------------------------------------------

PATH = f"{BASE}/recepcion/api/ecf"


async def ask(reception: Running, content: bytes, **headers: str) -> Any:
    async with reception.client() as client:
        return await client.post(PATH, content=content, headers={"content-type": TYPE, **headers})


async def test_a_real_senders_body_is_received(reception: Running) -> None:
    part = b"Content-Disposition: form-data; name=xml; filename=e.xml; filename*=utf-8''e.xml\r\n\r\n" + document()

    assert read(await ask(reception, form(part))).state == "0"


async def test_a_compressed_body_is_refused_unread(reception: Running) -> None:
    answer = await ask(reception, b"\x1f\x8b" + bytes(100), **{"content-encoding": "gzip"})

    assert answer.status_code == 415


async def test_a_form_that_is_larger_than_any_document_is_refused(reception: Running) -> None:
    answer = await ask(reception, form(HEAD + b"\r\n" + bytes(1200 * 1024)))

    assert answer.status_code == 413


async def test_a_form_inside_a_form_and_two_documents_in_one_are_refused(reception: Running) -> None:
    nested = form(HEAD + b"Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n<a/>\r\n--c--")

    for body in (nested, form(XML, XML)):
        assert (await ask(reception, body)).status_code == 400
