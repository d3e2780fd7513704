"""The kinds of document that have a page in the catalogue: what each is for, in both languages (papers.toml)."""

import msgspec

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.data_files import toml_rows
from fe.ecf.describe import Described, described
from fe.ecf.texts import Text


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of document, by its name in addresses."""

    slug: str = msgspec.field(name="code")
    title: Text
    about: Text
    in_format: Text | None = None
    root: Root = Root.ECF
    type: EcfType | None = None

    @property
    def code(self) -> str:
        """How people write its name."""
        return self.slug.upper()

    @property
    def about_in_format(self) -> Text:
        """Its use, then the elements that a program sends for it."""
        if self.in_format is None:
            return self.about
        return Text(f"{self.about.en} {self.in_format.en}", f"{self.about.es} {self.in_format.es}")

    @property
    def tree(self) -> Described:
        """Its elements."""
        return described(self.root, self.type)


PAPERS = tuple(toml_rows("http/pages/papers.toml", Paper).values())
