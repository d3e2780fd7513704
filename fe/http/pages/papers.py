"""The kinds of document that have a page in the catalogue: what each is for, in both languages."""

from dataclasses import dataclass

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.describe import Described, described
from fe.ecf.field_help import Words


@dataclass(frozen=True, slots=True)
class Paper:
    """One kind of document: `slug` in addresses, `code` as people write it, its title and what it is for."""

    slug: str
    code: str
    root: Root
    type: EcfType | None
    title: Words
    about: Words

    @property
    def tree(self) -> Described:
        """Its elements."""
        return described(self.root, self.type)


def _ecf(ecf_type: EcfType, title: Words, about: Words) -> Paper:
    return Paper(ecf_type.value, ecf_type.value, Root.ECF, ecf_type, title, about)


PAPERS = (
    _ecf(
        EcfType.CREDIT_FISCAL,
        Words("Credit fiscal invoice", "Factura de crédito fiscal"),
        Words(
            "A sale to somebody with an RNC, who takes the ITBIS off or books the expense with it.",
            "Venta a quien tiene RNC y la usa para deducir el ITBIS o sustentar el gasto.",
        ),
    ),
    _ecf(
        EcfType.CONSUMER,
        Words("Consumer invoice", "Factura de consumo"),
        Words(
            "A sale to a final consumer. Below RD$250,000 the authority gets only its summary (RFCE), which the "
            "service makes; from RD$250,000 on the buyer must be named and the whole goes.",
            "Venta a un consumidor final. Por debajo de RD$250,000 la DGII solo recibe su resumen (RFCE), que hace el "
            "servicio; desde RD$250,000 hay que identificar al comprador y se envía completa.",
        ),
    ),
    _ecf(
        EcfType.DEBIT_NOTE,
        Words("Debit note", "Nota de débito"),
        Words(
            "Adds to an invoice that was issued: interest, freight, a price that was too low. It names that invoice in "
            "InformacionReferencia.",
            "Aumenta una factura ya emitida: intereses, fletes, un precio que quedó corto. La identifica en "
            "InformacionReferencia.",
        ),
    ),
    _ecf(
        EcfType.CREDIT_NOTE,
        Words("Credit note", "Nota de crédito"),
        Words(
            "Takes from an invoice that was issued, cancels it, or corrects its text: goods returned, a discount given "
            "later. It names that invoice in InformacionReferencia.",
            "Rebaja una factura ya emitida, la anula o corrige su texto: devoluciones, descuentos posteriores. La "
            "identifica en InformacionReferencia.",
        ),
    ),
    _ecf(
        EcfType.PURCHASES,
        Words("Purchases", "Compras"),
        Words(
            "You buy from somebody who issues no receipts, and issue it in their place, withholding taxes.",
            "Compra a quien no emite comprobantes: usted lo emite en su lugar y retiene los impuestos.",
        ),
    ),
    _ecf(
        EcfType.MINOR_EXPENSES,
        Words("Minor expenses", "Gastos menores"),
        Words(
            "Small expenses of your staff without a receipt of their own: tolls, parking, fares. No buyer, all exempt.",
            "Gastos pequeños del personal sin comprobante propio: peajes, parqueos, pasajes. Todo exento.",
        ),
    ),
    _ecf(
        EcfType.SPECIAL_REGIME,
        Words("Special regimes", "Regímenes especiales"),
        Words(
            "A sale to somebody who is exempt by a special regime, such as a free zone. All lines are exempt.",
            "Venta a quien está exento por un régimen especial, como una zona franca. Todas las líneas van exentas.",
        ),
    ),
    _ecf(
        EcfType.GOVERNMENTAL,
        Words("Governmental", "Gubernamental"),
        Words("A sale to the State.", "Venta al Estado y sus instituciones."),
    ),
    _ecf(
        EcfType.EXPORTS,
        Words("Exports", "Exportaciones"),
        Words(
            "A sale abroad, at rate 0 (IndicadorFacturacion 3).",
            "Venta al exterior, a tasa cero (IndicadorFacturacion 3).",
        ),
    ),
    _ecf(
        EcfType.PAYMENTS_ABROAD,
        Words("Payments abroad", "Pagos al exterior"),
        Words(
            "You pay for a service to somebody abroad and withhold income tax (ISR).",
            "Paga un servicio a un no residente y le retiene el impuesto sobre la renta (ISR).",
        ),
    ),
    Paper(
        "rfce",
        "RFCE",
        Root.RFCE,
        EcfType.CONSUMER,
        Words("Summary of a consumer invoice", "Resumen de factura de consumo"),
        Words(
            "What the authority gets of a consumer invoice below RD$250,000. The service makes it of a type 32 by "
            "itself; send one only if you sign and keep the whole invoice yourself.",
            "Lo que recibe la DGII de una factura de consumo menor de RD$250,000. El servicio lo hace solo a partir de "
            "un tipo 32; envíelo únicamente si usted mismo firma y guarda la factura completa.",
        ),
    ),
    Paper(
        "acecf",
        "ACECF",
        Root.ACECF,
        None,
        Words("Commercial approval", "Aprobación comercial"),
        Words(
            "What you as a buyer say of a receipt that you got: accepted or rejected. For receipts that came in here, "
            "POST /received/{receivedId}/approve or /reject makes it.",
            "Lo que usted, como comprador, dice de un comprobante recibido: lo acepta o lo rechaza. Para los recibidos "
            "aquí lo hacen POST /received/{receivedId}/approve o /reject.",
        ),
    ),
    Paper(
        "anecf",
        "ANECF",
        Root.ANECF,
        None,
        Words("Numbers given back", "Anulación de rangos"),
        Words(
            "Gives numbers back that were never used and never will be.",
            "Anula números que no se han usado ni se usarán.",
        ),
    ),
    Paper(
        "arecf",
        "ARECF",
        Root.ARECF,
        None,
        Words("Acknowledgement", "Acuse de recibo"),
        Words(
            "What a receiver answers when an e-CF arrives. The service makes it; you never send one.",
            "Lo que responde un receptor cuando le llega un e-CF. Lo hace el servicio; usted nunca lo envía.",
        ),
    ),
)
