"""`fe customer` and `fe product`: a tenant's catalogue, through the API with a stored key."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from fe.catalogue.csv_file import CsvEntries, customers_in, products_in
from fe.catalogue.entries import Customer, ItbisRate, Product, ProductKind
from fe.catalogue.fields import read_id
from fe.cli.failures import Failure
from fe.cli.printing import json_option, print_result, show, show_all
from fe.integrator.api import opened
from fe.integrator.options import api_options

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def customer() -> None:
    """List, write and delete your customers, and import them from a CSV, through the API."""


@click.group()
def product() -> None:
    """List, write and delete your products, and import them from a CSV, through the API."""


def _id(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if read_id(value) is None:
        raise click.BadParameter("letters, digits and . _ ~ -, at most 64")
    return value


entry_id = click.argument("entry_id", metavar="ID", callback=_id)
_version = click.option(
    "--version", type=click.IntRange(0), help="Only if it is at this version; 0: only if it is new."
)


def _put(profile: str, patience: float, path: str, entry_id: str, body: Mapping[str, Any], *, as_json: bool) -> None:
    with opened(profile, patience) as api:
        show(
            api.put(f"{path}/{entry_id}", {name: value for name, value in body.items() if value is not None}),
            as_json=as_json,
        )


@customer.command("put")
@api_options
@entry_id
@click.option("--name", required=True, help="Of at most 150 letters for a customer, 80 for a product.")
@click.option("--rnc", metavar="DIGITS", help="RNC or cédula.")
@click.option("--email", metavar="ADDRESS", help="Mail address.")
@click.option("--phone", help="Telephone number.")
@click.option("--address", help="Street address.")
@click.option("--type", "receipt_type", metavar="E31", help="The usual type of receipt.")
@_version
@json_option
def put_customer(
    profile: str, patience: float, entry_id: str, receipt_type: str | None, as_json: bool, **more: Any
) -> None:
    """Write a customer whole: what is left out is unknown from then on."""
    _put(profile, patience, "/customers", entry_id, {**more, "type": receipt_type}, as_json=as_json)


@product.command("put")
@api_options
@entry_id
@click.option("--name", required=True, help="Of at most 150 letters for a customer, 80 for a product.")
@click.option("--code", help="Yours, or that of the bar code.")
@click.option("--unit", metavar="CODE", help="Code or name of the unit of measure.")
@click.option("--price", metavar="NUMBER", help="In Dominican pesos.")
@click.option("--with-itbis", is_flag=True, help="ITBIS is in the price.")
@click.option("--itbis", type=click.Choice(list(ItbisRate)))
@click.option("--kind", type=click.Choice(list(ProductKind)))
@_version
@json_option
def put_product(profile: str, patience: float, entry_id: str, with_itbis: bool, as_json: bool, **more: Any) -> None:
    """Write a product whole: what is left out is unknown from then on."""
    _put(profile, patience, "/products", entry_id, {**more, "priceHasItbis": with_itbis}, as_json=as_json)


def _shared(group: click.Group, path: str, read: Callable[[bytes], CsvEntries[Any]]) -> None:
    """Add the commands that both groups have."""
    word = group.name

    @group.command("list", help=f"List {path[1:]} by name.")
    @api_options
    @click.option("--find", metavar="TEXT", help="Only those with words that begin so.")
    @click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="Most rows.")
    @json_option
    def list_(profile: str, patience: float, find: str | None, limit: int, as_json: bool) -> None:
        with opened(profile, patience) as api:
            answer = api.get(path, q=find, limit=limit)
        show_all(answer["items"], as_json=as_json, none="nothing was found")

    @group.command("show", help=f"Show a {word}.")
    @api_options
    @entry_id
    @json_option
    def show_(profile: str, patience: float, entry_id: str, as_json: bool) -> None:
        with opened(profile, patience) as api:
            show(api.get(f"{path}/{entry_id}"), as_json=as_json)

    @group.command("delete", help=f"Delete a {word}. Receipts already issued stay as they are.")
    @api_options
    @entry_id
    @json_option
    def delete(profile: str, patience: float, entry_id: str, as_json: bool) -> None:
        with opened(profile, patience) as api:
            show(api.delete(f"{path}/{entry_id}"), as_json=as_json)

    @group.command("import", help="Write the rows of a CSV, after all of them were checked. Repeating it is safe.")
    @api_options
    @click.argument("file", type=_FILE)
    @json_option
    def import_(profile: str, patience: float, file: Path, as_json: bool) -> None:
        found = read(file.read_bytes())
        if found.faults:
            said = "\n".join(f"line {one.line}: {one.text.en}" if one.line else one.text.en for one in found.faults)
            raise Failure(f"nothing was written; {file}:\n{said}")
        with opened(profile, patience) as api:
            for entry_id, entry in found.entries.items():
                api.put(f"{path}/{entry_id}", _body(entry))
        doubts = [f"line {one.line}: {one.text.en}" for one in found.doubts]
        result: dict[str, Any] = {"written": len(found.entries), **({"warnings": doubts} if doubts else {})}
        print_result([*doubts, f"{len(found.entries)} written"], result, as_json=as_json)


def _body(entry: Customer | Product) -> dict[str, Any]:
    """Return an entry as the API takes it, without what is unknown."""
    known: dict[str, str | bool | Decimal | list[str] | None]
    if isinstance(entry, Customer):
        known = {
            "name": entry.name,
            "rnc": None if entry.rnc is None else entry.rnc.digits,
            "email": entry.email,
            "phone": entry.phone,
            "address": entry.address,
            "municipality": entry.municipality,
            "province": entry.province,
            "type": None if entry.receipt_type is None else entry.receipt_type.prefix,
        }
    else:
        known = {
            "name": entry.name,
            "code": entry.code,
            "unit": entry.unit,
            "price": entry.price,
            "priceHasItbis": entry.price_has_itbis,
            "itbis": None if entry.itbis is None else entry.itbis.value,
            "kind": None if entry.kind is None else entry.kind.value,
            "additionalTaxes": list(entry.additional_taxes),
        }
    return {name: value for name, value in known.items() if value is not None}


_shared(customer, "/customers", customers_in)
_shared(product, "/products", products_in)
