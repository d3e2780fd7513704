"""How large a document is, which decides where its work is done.

A large one is read and made in processes apart (fe/offload/pool.py); a short one is signed in the event loop
(fe/actors/loop_batcher.py); all others are worked on where they are.
"""

#: Largest short document, in bytes and lines. Making and signing fifty lines takes a millisecond; reporting several
#: problems in each of a hundred empty lines takes two.
SHORT_BYTES = 8 * 1024
SHORT_LINES = 100
#: Bytes above which a document is large.
LARGE_BYTES = 64 * 1024
#: Most lines of a short text. Validating one takes a tenth of a millisecond; this many do not delay other requests.
LARGE_LINES = 500
#: Tags of XML: a receipt of a hundred lines and more, read in 1.4 ms. As many that are all wrong take 15. There is room
#: for 15,000 elements in 64 KB, and those took 109.
LARGE_TAGS = 2_000
#: Values of JSON, told by the commas between them: a receipt of 64 KB has some 3,000. As many decimals as there is room
#: for, 16,000, took 25 ms of the interpreter where they were read, and memory that it kept.
LARGE_VALUES = 4_000
#: How encoders of JSON write a `<` that care for pages of HTML.
_ESCAPED = (b"\\u003c", b"\\u003C")


def is_large(raw: bytes) -> bool:
    """Tell of a request's body, or a document as it is kept: by its bytes, or its lines as far as they can be counted.

    A line of JSON is an object, and it may have many values. Lines of XML are told by the tags, as a document has them
    or as a text in JSON.
    """
    if len(raw) > LARGE_BYTES or raw.count(b"{") > LARGE_LINES:
        return True
    if len(raw) <= LARGE_VALUES:  # too short for that many values, or tags
        return False
    if raw.count(b",") > LARGE_VALUES:
        return True
    return raw.count(b"<") + sum(raw.count(escaped) for escaped in _ESCAPED) > LARGE_TAGS


def is_short(raw: bytes) -> bool:
    """Tell of a document as it is kept, its lines counted as `is_large` does."""
    return len(raw) <= SHORT_BYTES and raw.count(b"{") <= SHORT_LINES
