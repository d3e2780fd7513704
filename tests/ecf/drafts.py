"""Hypothesis strategies: drafts of every type, their arithmetic as varied as the format allows and still in order."""

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from fe.ecf.catalogue import EcfType
from fe.ecf.document import Document
from fe.ecf.rules.lines import INDICATORS_OF
from fe.ecf.taxes import AD_VALOREM, ADDITIONAL_TAXES, SPECIFIC, TaxKind
from fe.ecf.totals import SHAPES
from tests.ecf.receipts import RATED_DAY, draft, line, withheld

prices = st.decimals(min_value=Decimal("0.01"), max_value=Decimal(20_000), places=4).map(str)
quantities = st.decimals(min_value=Decimal("0.01"), max_value=Decimal(500), places=2).map(str)
amounts = st.decimals(min_value=Decimal(0), max_value=Decimal(50_000), places=2).map(str)
percents = st.decimals(min_value=Decimal("0.01"), max_value=Decimal(20), places=2).map(str)

#: On day RATED_DAY the rates of all of these are known.
_OTHER = [code for code, tax in ADDITIONAL_TAXES.items() if tax.kind is TaxKind.OTHER]
_PAIRS = [(tax.specific, code) for code, tax in ADDITIONAL_TAXES.items() if tax.kind in AD_VALOREM and tax.specific]
_ALONE = [(code,) for code, tax in ADDITIONAL_TAXES.items() if tax.kind in SPECIFIC]


@st.composite
def _sub_table(draw: st.DrawFn, table: str, row: str, kind: str, percent: str, amount: str) -> dict[str, Any]:
    entries = draw(
        st.lists(
            st.one_of(
                st.builds(lambda value: {kind: "%", percent: value}, percents.filter(lambda p: Decimal(p) < 5)),
                st.just({kind: "$", amount: "0.00"}),
            ),
            min_size=1,
            max_size=3,
        )
    )
    return {table: {row: entries}}


_discounts = _sub_table(
    "TablaSubDescuento", "SubDescuento", "TipoSubDescuento", "SubDescuentoPorcentaje", "MontoSubDescuento"
)
_surcharges = _sub_table("TablaSubRecargo", "SubRecargo", "TipoSubRecargo", "SubRecargoPorcentaje", "MontoSubRecargo")


@st.composite
def excise_fields(draw: st.DrawFn, allowed: frozenset[TaxKind]) -> dict[str, Any]:
    """Elements of a line with additional taxes."""
    pools: list[tuple[str, ...]] = [(code,) for code in _OTHER]
    if TaxKind.SPECIFIC_ALCOHOL in allowed:
        pools += [*_PAIRS, *_ALONE]
    codes = draw(st.sampled_from(pools))
    fields: dict[str, Any] = {
        "TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": code} for code in codes]}
    }
    if ADDITIONAL_TAXES[codes[0]].kind is not TaxKind.OTHER:
        fields |= {
            "UnidadMedida": draw(st.sampled_from(["6", "43"])),
            "CantidadReferencia": draw(quantities),
            "UnidadReferencia": "5",
            "PrecioUnitarioReferencia": draw(
                st.decimals(min_value=Decimal("0.01"), max_value=Decimal(5000), places=2).map(str)
            ),
        }
    if ADDITIONAL_TAXES[codes[0]].kind is TaxKind.SPECIFIC_TOBACCO:
        fields["TablaSubcantidad"] = {"SubcantidadItem": [{"Subcantidad": "20", "CodigoSubcantidad": "43"}]}
    if ADDITIONAL_TAXES[codes[0]].kind is TaxKind.SPECIFIC_ALCOHOL:
        inside = st.decimals(min_value=Decimal("0.001"), max_value=Decimal(5), places=3).map(str)
        entries = draw(st.lists(inside, min_size=1, max_size=2))
        fields["TablaSubcantidad"] = {
            "SubcantidadItem": [{"Subcantidad": entry, "CodigoSubcantidad": "24"} for entry in entries]
        }
        fields["GradosAlcohol"] = draw(
            st.decimals(min_value=Decimal("0.01"), max_value=Decimal(100), places=2).map(str)
        )
    return fields


@st.composite
def lines(draw: st.DrawFn, ecf_type: EcfType) -> dict[str, Any]:
    """One line of a type."""
    shape = SHAPES[ecf_type]
    # Structured payloads know no 0 (not billable); lines of documents from XML are covered by examples.
    indicator = draw(st.sampled_from(sorted(INDICATORS_OF[ecf_type] - {0})))
    fields = line(draw(prices), draw(quantities), indicator=str(indicator))
    if shape.adjustments:
        fields |= draw(st.one_of(st.just({}), _discounts))
        fields |= draw(st.one_of(st.just({}), _surcharges))
    taxed: bool = draw(st.booleans())
    if taxed and shape.additional:
        fields |= draw(excise_fields(shape.additional))
    if ecf_type in (EcfType.PURCHASES, EcfType.PAYMENTS_ABROAD):
        fields = withheld(ecf_type, fields, vat=draw(amounts), income=draw(amounts))
    return fields


@st.composite
def adjustments(draw: st.DrawFn, billed: list[str], rule_1007: bool) -> dict[str, Any]:
    """Up to three global discounts and surcharges, small enough to leave something of every base."""
    percent = percents.filter(lambda value: Decimal(value) <= 20)
    one = st.fixed_dictionaries(
        {
            "TipoAjuste": st.sampled_from(["D", "R"]),
            "TipoValor": st.just("%"),
            "ValorDescuentooRecargo": percent,
            "IndicadorFacturacionDescuentooRecargo": st.sampled_from(sorted(set(billed))),
        }
    )
    rows = draw(st.lists(one, min_size=1, max_size=3))
    if rule_1007:
        rows.append(
            {
                "TipoAjuste": "D",
                "TipoValor": "%",
                "ValorDescuentooRecargo": "5.00",
                "IndicadorFacturacionDescuentooRecargo": "1",
                "IndicadorNorma1007": "1",
            }
        )
    return {"DescuentoORecargo": rows}


@st.composite
def drafts(draw: st.DrawFn, ecf_type: EcfType, max_lines: int = 5) -> Document:
    """A draft of a type, with everything left out that is computed."""
    shape = SHAPES[ecf_type]
    items = draw(st.lists(lines(ecf_type), min_size=1, max_size=max_lines))
    more: dict[str, Any] = {}
    if shape.says_whether_included:
        more["included"] = draw(st.booleans())
    billed = [one["IndicadorFacturacion"] for one in items]
    if shape.adjustments and draw(st.booleans()):
        by_rule_1007 = shape.rule_1007 and more.get("included", False) and "1" in billed and draw(st.booleans())
        more["DescuentosORecargos"] = draw(adjustments(billed, by_rule_1007))
    if draw(st.booleans()):
        rate = st.decimals(min_value=Decimal("0.5"), max_value=Decimal(100), places=4).map(str)
        more["OtraMoneda"] = {"TipoMoneda": "USD", "TipoCambio": draw(rate)}
    return draft(ecf_type, items, issued=RATED_DAY, **more)


any_draft = st.sampled_from(EcfType).flatmap(drafts)
