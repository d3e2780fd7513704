"""Check that lxml and xmlsec carry the same libxml2, since they exchange pointers into its trees.

Matching wheels do. A wheel of one beside a source build of the other may not, and then documents are corrupted or the
process dies. So every start makes this check first. We sign without xmlsec, but it is installed with us, and a library
that imports it loads it into this process. Call it before any import of xmlsec: on a mismatch that xmlsec detects, its
import fails with its own error.
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
