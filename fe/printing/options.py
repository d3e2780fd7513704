"""How a receipt is printed: layout, language, standing, and the tenant's own settings."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256

from fe.ecf.catalogue import Environment
from fe.ecf.texts import Language

#: Part of the key of caches: a change of the layouts makes earlier bytes stale.
TEMPLATE = "3"
MAX_COPIES = 4
MAX_MARK = 20
MAX_FOOTER = 400
#: Lines on a sheet.
MAX_FOOTER_LINES = 9
ACCENT = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)


class PaperSize(StrEnum):
    """PaperSize."""

    LETTER = "letter"
    A4 = "a4"
    ROLL_80 = "80mm"
    ROLL_58 = "58mm"

    @property
    def is_roll(self) -> bool:
        """Continuous paper of a receipt printer."""
        return self in (PaperSize.ROLL_80, PaperSize.ROLL_58)


class FiscalStanding(StrEnum):
    """Fiscal value that the paper claims: that of an acceptance, of a mode of issue that permits it, or none."""

    ACCEPTED = "accepted"
    DEFERRED = "deferred"
    CONTINGENCY = "contingency"
    PREVIEW = "preview"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """Options of one print. ValueError for a value out of range.

    `language` is that of the words we add. `url` is the address in the QR
    code; without it, it is made of the document, `environment`, `ecf_host` and `fc_host`. `logo` is a PNG or
    SVG, `accent` a color as `#rrggbb`. `copies` has a mark for each copy, empty for none.
    """

    layout: PaperSize = PaperSize.LETTER
    language: Language = "es"
    environment: Environment = Environment.ECF
    url: str = ""
    standing: FiscalStanding = FiscalStanding.ACCEPTED
    ecf_host: str = "https://ecf.dgii.gov.do"
    fc_host: str = "https://fc.dgii.gov.do"
    logo: bytes | None = None
    accent: str = "#1f3a5f"
    footer: str = ""
    copies: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        """Check the values a tenant gives."""
        if not ACCENT.fullmatch(self.accent):
            raise ValueError("the accent is not a color as #rrggbb")
        if not 1 <= len(self.copies) <= MAX_COPIES or any(len(mark) > MAX_MARK for mark in self.copies):
            raise ValueError(f"there are 1 to {MAX_COPIES} copies, each with a mark of at most {MAX_MARK} characters")
        if len(self.footer) > MAX_FOOTER:
            raise ValueError(f"the footer is longer than {MAX_FOOTER} characters")

    def of_received(self, environment: Environment, *, ecf_host: str, fc_host: str) -> "PrintOptions":
        """Return the options of a supplier's receipt: our paper and language, without our logo, footer and marks."""
        return PrintOptions(
            layout=self.layout, language=self.language, environment=environment, ecf_host=ecf_host, fc_host=fc_host
        )


def print_key(xml: bytes, options: PrintOptions) -> tuple[str, bytes, bytes, PrintOptions]:
    """Return the key of a print in a cache, which keeps digests of the document and the logo."""
    return TEMPLATE, sha256(xml).digest(), sha256(options.logo or b"").digest(), replace(options, logo=None)
