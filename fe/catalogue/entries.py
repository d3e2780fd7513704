"""Customers and products of a tenant. All but the name may be unknown: a shop knows what it knows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Generic, TypeVar

from fe.catalogue import fields
from fe.catalogue.fields import EntryId
from fe.catalogue.search import search_text
from fe.ecf.catalogue import EcfType
from fe.ecf.identity import TaxId
from fe.ecf.mail_address import MailAddress
from fe.ecf.texts import Text

E = TypeVar("E")

#: Lengths, as the format has them (authority.md#formats).
NAME_OF_CUSTOMER, NAME_OF_PRODUCT, CODE, ADDRESS = 150, 80, 35, 100


class EntrySource(StrEnum):
    """The author of an entry. A remembered entry, made from a receipt, gives way to all others."""

    PERSON = "person"
    IMPORT = "import"
    API = "api"
    REMEMBERED = "remembered"


class ItbisRate(StrEnum):
    """The rate of ITBIS of a product."""

    R18 = "18"
    R16 = "16"
    R0 = "0"
    EXEMPT = "exempt"


class ProductKind(StrEnum):
    """IndicadorBienoServicio."""

    GOOD = "good"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Customer:
    """A buyer of a tenant. `municipality` and `province` are codes of the authority's list."""

    name: str
    rnc: TaxId | None = None
    email: MailAddress | None = None
    phone: str | None = None
    address: str | None = None
    municipality: str | None = None
    province: str | None = None
    receipt_type: EcfType | None = None

    @property
    def search(self) -> str:
        """The words it is found by."""
        return search_text(self.name, None if self.rnc is None else self.rnc.digits)

    @property
    def remarks(self) -> tuple[Text, ...]:
        """Doubts that are no errors."""
        return fields.remarks_on(self.rnc)


@dataclass(frozen=True, slots=True)
class Product:
    """A good or service of a tenant. `price_has_itbis` says whether ITBIS is in `price`; both or none are known."""

    name: str
    code: str | None = None
    #: Code of the unit of measure.
    unit: str | None = None
    price: Decimal | None = None
    price_has_itbis: bool | None = None
    itbis: ItbisRate | None = None
    kind: ProductKind | None = None
    additional_taxes: tuple[str, ...] = ()

    @property
    def search(self) -> str:
        """The words it is found by."""
        return search_text(self.name, self.code)

    @property
    def price_text(self) -> str | None:
        """The price with its decimals, two at least."""
        if self.price is None:
            return None
        whole, _, decimals = f"{self.price:f}".partition(".")
        return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"

    @property
    def remarks(self) -> tuple[Text, ...]:
        """Doubts that are no errors: a product has none."""
        return ()


@dataclass(frozen=True, slots=True)
class Stored(Generic[E]):
    """An entry as it is stored. `version` is 1 at first and grows with each change of its content."""

    id: EntryId
    entry: E
    source: EntrySource
    version: int
    changed_at: datetime
    changed_by: str
    #: Moment of the newest receipt with it that the portal issued.
    used_at: datetime | None


def check_customer(
    *,
    name: str | None,
    rnc: str | None = None,
    email: str | None = None,
    phone: str | None = None,
    address: str | None = None,
    municipality: str | None = None,
    province: str | None = None,
    receipt_type: str | None = None,
) -> Customer:
    """Check a customer. Raises BadEntry; its fields have the names of the API."""
    town, region = fields.places(municipality, province)
    return Customer(
        fields.required_line("name", name, NAME_OF_CUSTOMER),
        fields.rnc("rnc", rnc),
        fields.email("email", email),
        fields.phone("phone", phone),
        fields.line("address", address, ADDRESS),
        town,
        region,
        fields.receipt_type("type", receipt_type),
    )


_RATES = {"E": "exempt", "EXENTO": "exempt", "EXEMPT": "exempt", "18%": "18", "16%": "16", "0%": "0"}
RATES = Text("18, 16, 0, exempt", "18, 16, 0, exento")
KINDS = Text("good, service", "bien, servicio")
_KINDS = {"bien": "good", "servicio": "service", "1": "good", "2": "service"}


def check_product(
    *,
    name: str | None,
    code: str | None = None,
    unit: str | None = None,
    price: str | None = None,
    price_has_itbis: bool | None = None,
    itbis: str | None = None,
    kind: str | None = None,
    additional_taxes: Sequence[str] = (),
) -> Product:
    """Check a product. Raises BadEntry; its fields have the names of the API. A price without more is without ITBIS."""
    rate, what = (itbis or "").strip().upper(), (kind or "").strip().lower()
    cost = fields.price("price", price)
    return Product(
        fields.required_line("name", name, NAME_OF_PRODUCT),
        fields.line("code", code, CODE),
        fields.unit("unit", unit),
        cost,
        None if cost is None else bool(price_has_itbis),
        fields.one_of("itbis", _RATES.get(rate, rate), ItbisRate, RATES) if rate else None,
        fields.one_of("kind", _KINDS.get(what, what), ProductKind, KINDS) if what else None,
        fields.additional_taxes("additionalTaxes", additional_taxes),
    )
