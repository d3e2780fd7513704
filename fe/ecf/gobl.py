"""GOBL invoices (https://gobl.org, draft 0) as payloads of e-CF.

GOBL has no tax regime for the Dominican Republic, so docs/api/gobl.md defines how types, rates and references are read.
Members that an e-CF cannot carry are ignored and listed in `remarks`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from fe.ecf.catalogue import EcfType
from fe.ecf.dates import show_day
from fe.ecf.identity import e_ncf
from fe.ecf.money import HUNDRED, ONE, ZERO, cents, exact, number
from fe.ecf.problems import MAX_PROBLEMS, Problem, Severity
from fe.ecf.texts import Text

_SCHEMA = "/bill/invoice"
_HOME = "DO"
_PESO = "DOP"
_PRICE = Decimal("0.0001")
#: IndicadorFacturacion by percent of ITBIS.
_RATES = {Decimal(18): "1", Decimal(16): "2", ZERO: "3"}
_EXEMPT = "4"
#: Of a tax without percent, by its rate or key.
_NAMED_RATES = {"standard": "1", "general": "1", "reduced": "2", "zero": "3", "exempt": _EXEMPT}
_ITBIS = frozenset({"VAT", "ITBIS"})
#: FormaPago by the means of payment; 8 is "others".
_MEANS = {"cash": "1", "cheque": "2", "credit-transfer": "2", "debit-transfer": "2", "card": "3"}
#: UnidadMedida.
_UNITS = {
    **{"kg": "21", "g": "17", "mg": "60", "t": "39", "l": "24", "ml": "59", "m": "26", "cm": "8", "m2": "27"},
    **{"m3": "28", "ft": "33", "in": "55", "h": "19", "min": "30", "s": "37", "day": "12", "piece": "34"},
    **{"item": "43", "one": "43", "pair": "32", "dozen": "13", "box": "6", "bag": "2", "can": "47", "kwh": "22"},
    **{"ha": "58", "pk": "31"},
}
#: The extension of a preceding document that gives CodigoModificacion.
_MODIFICATION = "do-ecf-modification"
_TYPES = {"credit-note": EcfType.CREDIT_NOTE, "debit-note": EcfType.DEBIT_NOTE}
#: Members that GOBL computes or that concern it alone.
_ITS_OWN = frozenset({"$schema", "$regime", "$addons", "uuid", "i", "sum", "totals", "total"})
#: Members of `totals` that GOBL computes. `rounding` and `retained_tax` change the amount due: they are not here.
_COMPUTED = frozenset({"discount", "charge", "tax", "tax_included", "taxes", "payable", "advance", "advances", "due"})

_IGNORED = Text("an e-CF cannot carry it: it was ignored", "un e-CF no puede llevarlo: se ignoró")
_CORRECTS = Text(
    "taken for a correction of amounts (CodigoModificacion 3)",
    "se tomó como corrección de montos (CodigoModificacion 3)",
)
_NO_AMOUNT = Text("is missing, and so is a percent", "falta, y también percent")
_GOODS = Text("taken for goods (IndicadorBienoServicio 1)", "se tomó como bien (IndicadorBienoServicio 1)")


class NotConvertible(ValueError):
    """The document is no GOBL invoice that an e-CF could be made of; `text` says why."""

    def __init__(self, path: str, text: Text) -> None:
        self.text = text.after(path) if path else text
        super().__init__(self.text.en)


@dataclass(frozen=True, slots=True)
class Converted:
    """A payload of an e-CF, and what was ignored or assumed."""

    payload: Mapping[str, Any]
    remarks: tuple[Problem, ...]


@dataclass(slots=True)
class _Part:
    """An object of the document; it knows which of its members were read."""

    content: Mapping[str, Any]
    path: str
    remarks: list[Problem]
    known: set[str] = field(default_factory=lambda: set(_ITS_OWN))
    below: dict[str, "_Part"] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """Return a member as text; a number too. None where it is absent."""
        self.known.add(name)
        value = self.content.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise NotConvertible(self.at(name), Text("must be a text", "debe ser un texto"))
        return str(value).strip()

    def amount(self, name: str) -> Decimal | None:
        """Return a number."""
        value = self.text(name)
        return None if value is None else self._number(name, value)

    def percent(self, name: str) -> Decimal | None:
        """Return a percentage, without its sign."""
        value = self.text(name)
        return None if value is None else self._number(name, value.removesuffix("%"))

    def _number(self, name: str, value: str) -> Decimal:
        found = number(value)
        if found is None:
            raise NotConvertible(self.at(name), Text("must be a number, as 450.50", "debe ser un número, como 450.50"))
        return found

    def day(self, name: str) -> date | None:
        """Return a day."""
        value = self.text(name)
        if value is None:
            return None
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise NotConvertible(
                self.at(name), Text("must be a day, as 2026-11-29", "debe ser un día, como 2026-11-29")
            ) from None

    def part(self, name: str) -> "_Part":
        """Return an object; an empty one where it is absent."""
        self.known.add(name)
        value = self.content.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise NotConvertible(self.at(name), Text("must be an object", "debe ser un objeto"))
        return self._below(value or {}, self.at(name))

    def parts(self, name: str) -> list["_Part"]:
        """Return the objects of a list."""
        self.known.add(name)
        value = self.content.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise NotConvertible(self.at(name), Text("must be a list of objects", "debe ser una lista de objetos"))
        return [self._below(one, f"{self.at(name)}[{n}]") for n, one in enumerate(value, 1)]

    def _below(self, content: Mapping[str, Any], path: str) -> "_Part":
        return self.below.setdefault(path, _Part(content, path, self.remarks))

    def at(self, name: str) -> str:
        """Return the path of a member; items are counted from 1."""
        return f"{self.path}.{name}"

    def remark(self, name: str, code: str, text: Text) -> None:
        """Note what was assumed of a member."""
        self.remarks.append(Problem(code, self.at(name), text.en, text.es, severity=Severity.CONDITIONAL))

    def unread(self) -> Iterator[tuple["_Part", str]]:
        """List members that nothing has read, those of its parts too."""
        for name, value in self.content.items():
            if name not in self.known and value not in (None, "", [], {}):
                yield self, str(name)
        for part in self.below.values():
            yield from part.unread()


def payload_of(given: Mapping[str, Any]) -> Converted:
    """Convert an invoice, alone or in its envelope, to a structured payload. Raises NotConvertible."""
    envelope = _Part(given, "payload", [])
    schema = envelope.text("$schema") or ""
    invoice = envelope
    if "doc" in given:
        invoice = envelope.part("doc")
        envelope.known |= {"head", "sigs"}
        schema = invoice.text("$schema") or ""
    if not schema.endswith(_SCHEMA):
        raise NotConvertible(
            invoice.at("$schema"),
            Text("must be that of an invoice: …/bill/invoice", "debe ser el de una factura: …/bill/invoice"),
        )
    head, totals = _head(invoice)
    rate = Decimal(head["OtraMoneda"]["TipoCambio"]) if "OtraMoneda" in head else None
    with exact():
        items = [_item(line, rate, invoice.text("currency") or _PESO) for line in invoice.parts("lines")]
        adjustments = _adjustments(invoice, rate)
        if paid := _paid(invoice.part("payment"), rate):
            head["IdDoc"]["TablaFormasPago"] = {"FormaDePago": paid}
    payload: dict[str, Any] = {"Encabezado": head, "DetallesItems": {"Item": items}}
    if adjustments:
        payload["DescuentosORecargos"] = {"DescuentoORecargo": adjustments}
    if reference := _reference(invoice, head["IdDoc"]["TipoeCF"]):
        payload["InformacionReferencia"] = reference
    if totals is not None:
        head["Totales"] = {"MontoTotal": totals}
    for part, name in envelope.unread():
        part.remark(name, "gobl-ignored", _IGNORED)
    return Converted(payload, tuple(envelope.remarks[:MAX_PROBLEMS]))


def _head(invoice: _Part) -> tuple[dict[str, Any], str | None]:
    customer = invoice.part("customer")
    issuer, own_number = _issuer(invoice)
    id_doc = _id_doc(invoice, _customer_id(customer)[0] is not None)
    if id_doc.get("eNCF") is None and own_number:
        issuer["NumeroFacturaInterna"] = own_number
    head: dict[str, Any] = {"IdDoc": id_doc}
    if issuer:
        head["Emisor"] = issuer
    if buyer := _buyer(customer):
        head["Comprador"] = buyer
    currency = invoice.text("currency") or _PESO
    if currency != _PESO:
        head["OtraMoneda"] = {"TipoMoneda": currency, "TipoCambio": str(_exchange_rate(invoice, currency))}
    totals = invoice.part("totals")
    totals.known |= _COMPUTED
    # In another currency there is no sum in pesos to compare with: then it is listed among the ignored.
    return head, totals.text("total_with_tax") if currency == _PESO else None


def _id_doc(invoice: _Part, has_rnc: bool) -> dict[str, Any]:
    kind = invoice.text("type") or "standard"
    if kind not in ("standard", *_TYPES):
        raise NotConvertible(
            invoice.at("type"),
            Text("must be standard, credit-note or debit-note", "debe ser standard, credit-note o debit-note"),
        )
    series, code = invoice.text("series") or "", invoice.text("code") or ""
    named = next((one for one in EcfType if series == f"E{one}"), None)
    given = f"{series}{code.zfill(10)}" if named and code else code
    if (own := e_ncf(given)) is not None:
        named = own.type
    if named is not None and "type" in invoice.content:
        by_kind = _TYPES.get(kind)
        if named is not by_kind and (by_kind is not None or named in _TYPES.values()):
            raise NotConvertible(
                invoice.at("type"),
                Text(f"contradicts the number, of type {named}", f"contradice el número, de tipo {named}"),
            )
    chosen = named or _TYPES.get(kind) or (EcfType.CREDIT_FISCAL if has_rnc else EcfType.CONSUMER)
    tax = invoice.part("tax")
    prices = tax.text("prices_include")
    if prices and prices not in _ITBIS:
        raise NotConvertible(tax.at("prices_include"), Text("must be VAT, or left out", "debe ser VAT, o faltar"))
    found: dict[str, Any] = {"TipoeCF": str(chosen)}
    if own is not None:
        found["eNCF"] = given
    found |= {"IndicadorMontoGravado": "1" if prices in _ITBIS else "0", "TipoIngresos": "01"}
    return found | _payment(invoice.part("payment"))


def _payment(payment: _Part) -> dict[str, Any]:
    terms = payment.part("terms")
    due = [day for one in terms.parts("due_dates") if (day := one.day("date")) is not None]
    return {"TipoPago": "2", "FechaLimitePago": show_day(max(due))} if due else {"TipoPago": "1"}


def _paid(payment: _Part, rate: Decimal | None) -> list[dict[str, str]]:
    """Return what was paid, and how; amounts of another currency in pesos."""
    found = []
    for one in payment.parts("advances"):
        means, amount = (one.text("key") or "").partition("+")[0], one.amount("amount")
        if amount is not None:
            found.append({"FormaPago": _MEANS.get(means, "8"), "MontoPago": _in_pesos(amount, rate)})
    return found


def _in_pesos(amount: Decimal, rate: Decimal | None) -> str:
    return str(amount if rate is None else cents(amount * rate))


def _issuer(invoice: _Part) -> tuple[dict[str, Any], str]:
    supplier = invoice.part("supplier")
    # The company's own data are kept by the service.
    supplier.known |= {"name", "alias", "addresses", "emails", "telephones", "websites", "registration", "logos"}
    rnc = supplier.part("tax_id")
    rnc.known.add("country")
    issued = invoice.day("issue_date")
    found = {"RNCEmisor": rnc.text("code"), "FechaEmision": issued and show_day(issued)}
    own_number = "-".join(filter(None, (invoice.text("series"), invoice.text("code"))))
    return {name: value for name, value in found.items() if value}, own_number


def _customer_id(customer: _Part) -> tuple[str | None, str | None]:
    """Return the RNC or cédula, or the identification of another country."""
    tax_id = customer.part("tax_id")
    code, country = tax_id.text("code"), tax_id.text("country")
    return (code, None) if country in (None, _HOME) else (None, code)


def _buyer(customer: _Part) -> dict[str, Any]:
    rnc, foreign = _customer_id(customer)
    found = {"RNCComprador": rnc, "IdentificadorExtranjero": foreign, "RazonSocialComprador": customer.text("name")}
    for mail in customer.parts("emails")[:1]:
        found["CorreoComprador"] = mail.text("addr")
    for address in customer.parts("addresses")[:1]:
        lines = [address.text(name) for name in ("street", "num", "street_extra", "locality", "region")]
        if address.text("country") != _HOME:
            address.known.discard("country")
        found["DireccionComprador"] = ", ".join(filter(None, lines))
    return {name: value for name, value in found.items() if value}


def _exchange_rate(invoice: _Part, currency: str) -> Decimal:
    for one in invoice.parts("exchange_rates"):
        if (one.text("from"), one.text("to")) == (currency, _PESO):
            rate = one.amount("amount")
            if rate is not None and rate > 0:
                return rate
    raise NotConvertible(
        invoice.at("exchange_rates"),
        Text(f"must have the rate from {currency} to {_PESO}", f"debe tener la tasa de {currency} a {_PESO}"),
    )


def _item(line: _Part, rate: Decimal | None, currency: str) -> dict[str, Any]:
    item, quantity, price = line.part("item"), line.amount("quantity"), line.part("item").amount("price")
    if quantity is None:
        quantity = ONE
    if price is None:
        raise NotConvertible(item.at("price"), Text("is missing", "falta"))
    if (item.text("currency") or currency) != currency:
        raise NotConvertible(
            item.at("currency"),
            Text(f"must be that of the invoice, {currency}", f"debe ser la de la factura, {currency}"),
        )
    key = item.text("key")
    if key not in ("goods", "services"):
        item.remark("key", "gobl-assumed", _GOODS)
    found: dict[str, Any] = {
        "IndicadorFacturacion": _indicator(line),
        "NombreItem": item.text("name"),
        "IndicadorBienoServicio": "2" if key == "services" else "1",
        "DescripcionItem": item.text("description"),
        "CantidadItem": str(quantity),
        "PrecioUnitarioItem": str(price if rate is None else (price * rate).quantize(_PRICE, ROUND_HALF_UP)),
    }
    if (ref := item.text("ref")) is not None:
        found["TablaCodigosItem"] = {"CodigosItem": [{"TipoCodigo": "INTERNA", "CodigoItem": ref}]}
    if (unit := item.text("unit")) is not None:
        if unit in _UNITS:
            found["UnidadMedida"] = _UNITS[unit]
        else:
            item.remark("unit", "gobl-ignored", _IGNORED)
    gross = price * quantity
    off, more = (_sum_of(line.parts(name), gross) for name in ("discounts", "charges"))
    for name, amount in (("DescuentoMonto", off), ("RecargoMonto", more)):
        if amount:
            found[name] = str(cents(amount if rate is None else amount * rate))
    if rate is not None:
        found["OtraMonedaDetalle"] = {
            "PrecioOtraMoneda": str(price),
            **({"DescuentoOtraMoneda": str(off)} if off else {}),
            **({"RecargoOtraMoneda": str(more)} if more else {}),
            "MontoItemOtraMoneda": str(cents(gross - off + more)),
        }
    return {name: value for name, value in found.items() if value is not None}


def _sum_of(parts: list[_Part], gross: Decimal) -> Decimal:
    total = ZERO
    for one in parts:
        percent, amount, base = one.percent("percent"), one.amount("amount"), one.amount("base")
        if amount is None:
            if percent is None:
                raise NotConvertible(one.at("amount"), _NO_AMOUNT)
            amount = (gross if base is None else base) * percent / HUNDRED
        total += cents(amount)
    return total


def _indicator(line: _Part) -> str:
    """Return IndicadorFacturacion of a line or an adjustment."""
    taxes = line.parts("taxes")
    if not taxes:
        return _EXEMPT
    found: str | None = None
    for tax in taxes:
        category = tax.text("cat")
        percent, rate, key = tax.percent("percent"), tax.text("rate"), tax.text("key")
        if category not in _ITBIS:
            raise NotConvertible(
                tax.at("cat"),
                Text(
                    "must be VAT: other taxes are not converted; send them in a payload of their own form",
                    "debe ser VAT: los otros impuestos no se convierten; envíelos en un payload estructurado",
                ),
            )
        was = found
        found = _NAMED_RATES.get(key or rate or "") if percent is None or key == "exempt" else _RATES.get(percent)
        if was not in (None, found):
            raise NotConvertible(tax.at("percent"), Text("a line has one ITBIS", "una línea tiene un solo ITBIS"))
        if found is None:
            raise NotConvertible(
                tax.at("percent"),
                Text("must be 18%, 16% or 0%, or the key exempt", "debe ser 18%, 16% o 0%, o la clave exempt"),
            )
    assert found is not None
    return found


def _adjustments(invoice: _Part, rate: Decimal | None) -> list[dict[str, Any]]:
    """Return discounts and charges of the whole invoice; amounts of another currency in pesos, too."""
    found: list[dict[str, Any]] = []
    for name, kind in (("discounts", "D"), ("charges", "R")):
        for one in invoice.parts(name):
            percent, amount, base = one.percent("percent"), one.amount("amount"), one.amount("base")
            one.known |= {"key", "code"}
            if amount is None and percent is not None and base is not None:
                amount = cents(base * percent / HUNDRED)
            if percent is not None and base is None:
                value = {"TipoValor": "%", "ValorDescuentooRecargo": str(percent)}
            elif amount is None:
                raise NotConvertible(one.at("amount"), _NO_AMOUNT)
            else:
                value = {"TipoValor": "$", "MontoDescuentooRecargo": _in_pesos(amount, rate)}
                if rate is not None:
                    value["MontoDescuentooRecargoOtraMoneda"] = str(amount)
            found.append(
                {
                    "NumeroLinea": str(len(found) + 1),
                    "TipoAjuste": kind,
                    "DescripcionDescuentooRecargo": one.text("reason"),
                    **value,
                    "IndicadorFacturacionDescuentooRecargo": _indicator(one),
                }
            )
    return [{name: value for name, value in one.items() if value is not None} for one in found]


def _reference(invoice: _Part, ecf_type: str) -> dict[str, Any]:
    """Return the reference of a note."""
    before = invoice.parts("preceding")
    if not before:
        return {}
    if len(before) > 1:
        raise NotConvertible(
            invoice.at("preceding"),
            Text("must have one document: a note refers to one", "debe tener un documento: una nota se refiere a uno"),
        )
    one = before[0]
    why = one.part("ext").text(_MODIFICATION)
    if why is None:
        one.remark("ext", "gobl-assumed", _CORRECTS)
    one.known.add("type")
    series, code = one.text("series") or "", one.text("code") or ""
    issued = one.day("issue_date")
    found = {
        "NCFModificado": f"{series}{code}",
        "FechaNCFModificado": issued and show_day(issued),
        "CodigoModificacion": why or "3",
        "RazonModificacion": one.text("reason"),
    }
    return {name: value for name, value in found.items() if value}
