"""Customers and products, as clients send and see them."""

from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, WithJsonSchema

# As in response_models.py.
from typing_extensions import TypedDict

from fe.catalogue.entries import ADDRESS, CODE, NAME_OF_CUSTOMER, NAME_OF_PRODUCT, ItbisRate, ProductKind
from fe.catalogue.fields import PRICE_FORM
from fe.ecf.texts import Text
from fe.http.models.response_types import Amount, Moment, ResponseModel, closed
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import RequestModel

SourceName = Literal["person", "import", "api", "remembered"]
_VERSION = "the `version` that you read: where it is another by now, nothing changes and you get 409; 0: only if new"
_RNC = "RNC or cédula; a wrong check digit is a warning"
_PLACE = "code of the authority's list"
_TYPE = "type of e-CF that the customer usually gets, such as E31"
_CODE = "your code, such as the one of the bar code; on receipts CodigoItem"
_UNIT = "code of the unit of measure, such as 43"
_PRICE = "in Dominican pesos, with at most 4 decimals"
_HAS_ITBIS = "whether ITBIS is in the price"
_ITBIS = "rate of ITBIS in percent, or `exempt`"
_TAXES = "codes of additional taxes, 001 to 039"
_USED = "when the portal last issued a receipt with it; null: never"


def _text(most: int, about: str = "") -> Any:
    return Field(description=about or None, json_schema_extra={"maxLength": most})


class CustomerRequest(RequestModel):
    """A customer. All but the name may be unknown; what is left out is unknown from then on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "Ferretería El Sol SRL", "rnc": "131880657", "email": "compras@elsol.do", "type": "E31"},
                {"name": "Ana Núñez", "phone": "809-555-0142", "version": 1},
            ]
        }
    )

    name: Annotated[str, _text(NAME_OF_CUSTOMER)]
    rnc: Annotated[str | None, _text(20, _RNC)] = None
    email: Annotated[str | None, _text(254)] = None
    phone: Annotated[str | None, _text(20)] = None
    address: Annotated[str | None, _text(ADDRESS)] = None
    municipality: Annotated[str | None, _text(6, _PLACE)] = None
    province: Annotated[str | None, _text(6, f"{_PLACE}; it follows from the municipality")] = None
    type: Annotated[str | None, _text(3, _TYPE)] = None
    version: Annotated[int | None, Field(ge=0, le=2**31 - 1, description=_VERSION)] = None


class ProductRequest(RequestModel):
    """A good or service. All but the name may be unknown; what is left out is unknown from then on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "Cemento gris 42.5 kg", "code": "CEM-1", "price": 495, "priceHasItbis": True, "itbis": "18"},
                {"name": "Consulta", "kind": "service", "itbis": "exempt", "version": 1},
            ]
        }
    )

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Say of a price what it must be, and not which kinds of value were tried."""
        return {"price.decimal": PRICE_FORM.after("price")}

    name: Annotated[str, _text(NAME_OF_PRODUCT)]
    code: Annotated[str | None, _text(CODE, _CODE)] = None
    unit: Annotated[str | None, _text(2, _UNIT)] = None
    price: Annotated[
        Decimal | int | str | None,
        WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}, {"type": "null"}]}),
        Field(description=_PRICE),
    ] = None
    priceHasItbis: Annotated[bool, Field(description=_HAS_ITBIS)] = False
    itbis: Annotated[str | None, Field(description=_ITBIS, json_schema_extra={"enum": [*ItbisRate, None]})] = None
    kind: Annotated[str | None, Field(json_schema_extra={"enum": [*ProductKind, None]})] = None
    additionalTaxes: Annotated[list[str], Field(default_factory=list, max_length=20, description=_TAXES)]
    version: Annotated[int | None, Field(ge=0, le=2**31 - 1, description=_VERSION)] = None


@closed
class CustomerItem(TypedDict):
    """A customer; null is unknown."""

    id: Annotated[str, Field(description="yours, or one that the portal made")]
    name: str
    rnc: Annotated[str | None, Field(description=_RNC)]
    email: str | None
    phone: str | None
    address: str | None
    municipality: Annotated[str | None, Field(description=_PLACE)]
    province: Annotated[str | None, Field(description=_PLACE)]
    type: Annotated[str | None, Field(description=_TYPE)]
    source: SourceName
    version: int
    changedAt: Moment
    usedAt: Annotated[Moment | None, Field(description=_USED)]
    warnings: NotRequired[Warnings]


@closed
class ProductItem(TypedDict):
    """A good or service; null is unknown."""

    id: Annotated[str, Field(description="yours, or one that the portal made")]
    name: str
    code: Annotated[str | None, Field(description=_CODE)]
    unit: Annotated[str | None, Field(description=_UNIT)]
    price: Annotated[Amount | None, Field(description=_PRICE)]
    priceHasItbis: Annotated[bool | None, Field(description=f"{_HAS_ITBIS}; null without a price")]
    itbis: Annotated[Literal["18", "16", "0", "exempt"] | None, Field(description=_ITBIS)]
    kind: Literal["good", "service"] | None
    additionalTaxes: Annotated[list[str], Field(description=_TAXES)]
    source: SourceName
    version: int
    changedAt: Moment
    usedAt: Annotated[Moment | None, Field(description=_USED)]
    warnings: NotRequired[Warnings]


@closed
class CustomerList(TypedDict):
    """Customers by name."""

    limit: int
    items: list[CustomerItem]
    nextCursor: Annotated[str | None, Field(description="null at the end")]


@closed
class ProductList(TypedDict):
    """Goods and services by name."""

    limit: int
    items: list[ProductItem]
    nextCursor: Annotated[str | None, Field(description="null at the end")]


@closed
class EntryDeleted(TypedDict):
    """An entry is gone. Receipts already issued are not touched."""

    ok: bool
    id: str


@closed
class TaxpayerAnswer(TypedDict):
    """An entry of the authority's register, in its own words; empty is unknown."""

    rnc: str
    name: str
    tradeName: str
    activity: str
    status: Annotated[str, Field(description="such as ACTIVO, SUSPENDIDO, DADO DE BAJA")]
    active: bool
    regime: str


TAXPAYER = ResponseModel(TaxpayerAnswer)
CUSTOMER, CUSTOMER_LIST = ResponseModel(CustomerItem), ResponseModel(CustomerList)
PRODUCT, PRODUCT_LIST = ResponseModel(ProductItem), ResponseModel(ProductList)
ENTRY_DELETED = ResponseModel(EntryDeleted)
