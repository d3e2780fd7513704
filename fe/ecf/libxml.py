"""lxml and xmlsec hand each other pointers into libxml2's trees, so both must carry the very same libxml2.

Wheels that fit together do. A wheel of one beside a build from source of the other may not, and then documents are
corrupted or the process dies: so nothing starts before this was looked at. We sign without xmlsec, but it is installed
with us, and whatever loads it loads it into this process. Call it before anything that imports xmlsec: a mismatch that
xmlsec notices by itself ends its import with an error of its own.
"""

import importlib

from lxml import etree

_CURE = (
    "install the two wheels that belong together, as the lock does: "
    "pip install --force-reinstall --require-hashes -r requirements/run.lock"
)


class LibxmlMismatch(Exception):
    """lxml and xmlsec carry different versions of libxml2; the message says which, and what to do."""


def require_one_libxml2() -> None:
    """Raise LibxmlMismatch unless lxml and xmlsec, if it is installed, carry the same libxml2."""
    ours = etree.LIBXML_VERSION
    try:
        xmlsec = importlib.import_module("xmlsec")
    except ModuleNotFoundError:
        return  # then nothing can hand it a tree
    except Exception as error:  # its type is defined by the very module that could not be imported
        if not type(error).__module__.startswith("xmlsec"):
            raise
        raise LibxmlMismatch(f"xmlsec cannot work with the libxml2 {_show(ours)} of lxml ({error}): {_CURE}") from None
    theirs = xmlsec.get_libxml_version()
    if theirs != ours:
        raise LibxmlMismatch(f"lxml carries libxml2 {_show(ours)}, xmlsec {_show(theirs)}: {_CURE}")


def _show(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)
