"""The only door through which bytes from outside become JSON values or XML trees.

Everything that arrives (requests, received e-CF, the authority's answers) is read here, so that there is one answer to
what is refused. Each limit exists because its absence was seen to hang, fool or outgrow a parser or a later reader.
"""

from fe.ecf.parse.from_json import (
    MAX_JSON_CONTAINERS,
    MAX_JSON_DEPTH,
    ListedPart,
    parse_json,
    refuse_crowd,
    split_list,
)
from fe.ecf.parse.from_xml import (
    MAX_XML_ATTRIBUTES,
    MAX_XML_DEPTH,
    MAX_XML_ELEMENTS,
    MAX_XML_NAMESPACES,
    MAX_XML_PREFIX,
    parse_own,
    parse_xml,
)
from fe.ecf.parse.malformed import (
    MAX_BYTES,
    MAX_SIGNED_BYTES,
    MAX_SIGNED_ELEMENTS,
    ForeignMarkup,
    Malformed,
    MalformedJson,
    MalformedXml,
    excerpt,
    writable,
)

__all__ = [
    "MAX_BYTES",
    "MAX_JSON_CONTAINERS",
    "MAX_JSON_DEPTH",
    "MAX_SIGNED_BYTES",
    "MAX_SIGNED_ELEMENTS",
    "MAX_XML_ATTRIBUTES",
    "MAX_XML_DEPTH",
    "MAX_XML_ELEMENTS",
    "MAX_XML_NAMESPACES",
    "MAX_XML_PREFIX",
    "ForeignMarkup",
    "ListedPart",
    "Malformed",
    "MalformedJson",
    "MalformedXml",
    "excerpt",
    "parse_json",
    "parse_own",
    "parse_xml",
    "refuse_crowd",
    "split_list",
    "writable",
]
