"""The printed receipt as PDF: all that must be on it, a QR code that can be read, a PDF/A-3b with its XML."""

import io
import re
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import pikepdf
import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from fontTools.ttLib import TTFont
from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.parse import parse_xml
from fe.ecf.signature import verify
from fe.ecf.texts import Language
from fe.integrator import signed as integrator_signed
from fe.printing import FiscalStanding, NotPrintable, PaperSize, PrintOptions, TooManyPages, canvas, pdf, ticket
from fe.printing.labels import LEGENDS, MODIFICATIONS, TITLES
from fe.printing.read import read, show
from tests.cli.in_process import FeHere
from tests.ecf.receipts import NOW, line, receipt
from tests.factories.certificates import default_credential, default_root
from tests.factories.signatures import verify_with_xmlsec
from tests.printing import reading
from tests.printing.documents import GOLDEN, SAMPLES, long_receipt, official_cases, sign, signed
from tests.printing.receipt_printer import decode
from tests.shared import needs_shared

every_receipt = pytest.mark.parametrize("path", [*GOLDEN, *SAMPLES], ids=lambda path: path.stem)
every_layout = pytest.mark.parametrize("layout", PaperSize)
COFFEE = next(path for path in GOLDEN if "coffee" in path.stem)
LUNCH = next(path for path in GOLDEN if "lunch" in path.stem)

#: Amounts that a print need not have (authority.md#printed).
_NOT_PRINTED = re.compile(
    r"(Retencion|Subtotales|Paginacion|ImpuestosAdicionales\w*|TablaSub\w+|Mineria|OtraMonedaDetalle)/|"
    r"(ITBIS[123]|MontoGravado(I)?[123]\w*|TotalITBIS[123]\w*)$"
)
_AMOUNT = re.compile(r"(Monto|Total(ITBIS|ISR)|Valor|Saldo|Precio(Unitario)|Descuento|Recargo)", re.ASCII)


def amounts(xml: bytes) -> dict[str, Decimal]:
    """Every amount of the document that has to be printed, by its path."""
    root = parse_xml(xml)
    tree = root.getroottree()
    found = {}
    for element in root.iter(etree.Element):
        path = tree.getpath(element)
        if len(element) or not _AMOUNT.match(etree.QName(element).localname) or _NOT_PRINTED.search(path):
            continue
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?", element.text or ""):
            found[path] = Decimal(element.text or "")
    return found


def labelled(xml: bytes) -> list[str]:
    """The labels of the authority's models beside the values that the document has for them."""
    root = parse_xml(xml)
    header = root.find("Encabezado")
    assert header is not None
    found = {etree.QName(element).localname: element.text or "" for element in header.iter(etree.Element)}
    signed_at = root.findtext("FechaHoraFirma")
    made = [TITLES[EcfType(found["TipoeCF"])], "Cantidad", "Precio", "Valor", f"Fecha de Firma Digital: {signed_at}"]
    for name, words in LABELS.items():
        if name in found and not (name == "FechaVencimientoSecuencia" and found["TipoeCF"] in ("32", "34")):
            made.append(f"{words}: {found[name]}")
    for name, words in TOTALS.items():
        if name in found:
            made.append(f"{words}: {Decimal(found[name]):,.2f}")
    modified = root.findtext("InformacionReferencia/NCFModificado")
    if modified is not None:
        made.append(f"NCF Modificado: {modified}")
    for item in root.iter("Item"):
        made.append(
            ("E " if item.findtext("IndicadorFacturacion") == "4" else "") + (item.findtext("NombreItem") or "")
        )
        for name, words in (("GradosAlcohol", "Grados"), ("PrecioUnitarioReferencia", "PVP")):
            if item.findtext(name) is not None:
                made.append(words)
    return made


LABELS = {
    "eNCF": "e-NCF",
    "FechaVencimientoSecuencia": "Fecha Vencimiento",
    "RNCEmisor": "RNC",
    "FechaEmision": "Fecha Emisión",
    "RNCComprador": "RNC Cliente",
    "RazonSocialComprador": "Razón Social Cliente",
}
TOTALS = {
    "MontoGravadoTotal": "Subtotal Gravado",
    "MontoExento": "Subtotal Exento",
    "TotalITBIS": "Total ITBIS",
    "MontoTotal": "Total: RD$",
}


@every_receipt
def test_receipt_printed_has_every_label_text_and_amount_of_the_document(path: Path) -> None:
    xml = signed(path)
    given = read(xml)
    expected = [
        *labelled(xml),
        given.issuer.name,
        given.issuer.trade_name,
        *given.issuer.lines,
        f"Código de Seguridad: {given.code}",
        *(item.unit for item in given.items),
    ]
    if given.buyer is not None:
        expected += [given.buyer.foreign_id, given.buyer.country]
    if given.modified is not None:
        assert given.modified.words in MODIFICATIONS.values()
        expected.append(given.modified.words)
    wanted = amounts(xml)

    for layout in PaperSize:
        printed = reading.text(pdf(xml, PrintOptions(layout=layout)))
        squeezed = "".join(printed.split())
        missing = [words for words in expected if "".join(words.replace("RD$:", "RD$").split()) not in squeezed]
        wrong = {place: amount for place, amount in wanted.items() if show(amount) not in printed}
        assert (layout, missing, wrong) == (layout, [], {})


@needs_shared
@pytest.mark.parametrize("place", range(5))
def test_official_case_printed_has_the_amounts_of_the_authoritys_workbook(place: int) -> None:
    case = official_cases()[place]
    xml = signed(next(path for path in SAMPLES if f"<eNCF>{case['ENCF']}</eNCF>" in path.read_text(encoding="utf-8")))
    amounts_of = re.compile(
        r"(MontoGravadoTotal|MontoExento|TotalITBIS|MontoTotal|MontoNoFacturable|ValorPagar|TotalITBISRetenido"
        r"|TotalISRRetencion|(PrecioUnitarioItem|MontoItem|DescuentoMonto|RecargoMonto|PrecioUnitarioReferencia"
        r"|MontoDescuentooRecargo)\[\d+\])"
    )
    wanted = {name: show(Decimal(value)) for name, value in case.items() if amounts_of.fullmatch(name)}
    names = {name: value for name, value in case.items() if name.startswith("NombreItem")}
    assert "MontoTotal" in wanted

    for layout in PaperSize:
        options = PrintOptions(layout=layout)
        texts = [reading.text(pdf(xml, options)), *([decode(ticket(xml, options)).text] if layout.is_roll else ())]
        for text in texts:
            squeezed = "".join(text.split())
            missing = {name for name, value in (wanted | names).items() if "".join(value.split()) not in squeezed}
            assert (layout, missing) == (layout, set())


@every_layout
@pytest.mark.parametrize(
    ("language", "cash", "card"),
    [("es", "Efectivo", "Tarjeta de débito o crédito"), ("en", "Cash", "Debit or credit card")],
)
def test_each_form_of_payment_is_printed_with_its_amount(
    layout: PaperSize, language: Language, cash: str, card: str
) -> None:
    options = PrintOptions(layout=layout, language=language)
    texts = [reading.text(pdf(signed(LUNCH), options))]
    if layout.is_roll:
        texts.append(" ".join(decode(ticket(signed(LUNCH), options)).text.split()))

    for text in texts:
        assert f"{cash}: 1,000.00 {card}: 280.00" in text


@every_layout
def test_sale_on_credit_is_named_once(layout: PaperSize) -> None:
    printed = reading.text(pdf(signed(COFFEE), PrintOptions(layout=layout)))

    assert "Condición de pago: Crédito" in printed
    assert "venta a crédito" not in printed.lower()


def test_sale_partly_on_credit_has_both_forms_of_payment() -> None:
    root = parse_xml(LUNCH.read_bytes())
    kind, form = root.find("Encabezado/IdDoc/TipoPago"), root.find(".//FormaDePago[2]/FormaPago")
    assert kind is not None
    assert form is not None
    kind.text, form.text = "2", "4"

    assert "Efectivo: 1,000.00 Venta a crédito: 280.00" in reading.text(pdf(sign(root), PrintOptions()))


@every_receipt
@every_layout
def test_receipt_printed_has_a_qr_code_that_leads_to_the_authority(path: Path, layout: PaperSize) -> None:
    xml = signed(path)
    options = PrintOptions(layout=layout)
    url = read(xml).url(options.environment, ecf=options.ecf_host, fc=options.fc_host)
    for page in reading.pages(pdf(xml, options)):
        ((found, side, left),) = page.codes
        assert found == url
        assert side >= (25 if layout.is_roll else 22)
        assert left >= (9 if layout.is_roll else 19.9)


def test_consumer_invoice_below_the_threshold_has_the_address_of_summaries() -> None:
    path = next(path for path in GOLDEN if path.stem.startswith("ecf32"))

    given = read(signed(path))

    assert given.is_summarised
    assert given.url(PrintOptions().environment, ecf="https://e", fc="https://f").startswith(
        "https://f/ecf/ConsultaTimbreFC?RncEmisor="
    )


def test_pdf_carries_the_signed_document_which_verifies() -> None:
    xml = signed(COFFEE)

    printed = pdf(xml, PrintOptions())

    assert reading.attached(printed) == xml
    verify(reading.attached(printed))
    assert pdf(xml, PrintOptions()) == printed


@pytest.mark.skipif(shutil.which("pdfdetach") is None, reason="NOT PROVED HERE: there is no pdfdetach (poppler-utils)")
def test_document_taken_out_by_poppler_verifies_with_xmlsec_and_fe_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "receipt.pdf").write_bytes(pdf(signed(COFFEE), PrintOptions()))

    subprocess.run(["pdfdetach", "-save", "1", "-o", "receipt.xml", "receipt.pdf"], cwd=tmp_path, check=True)

    taken_out = (tmp_path / "receipt.xml").read_bytes()
    assert taken_out == signed(COFFEE)
    verify_with_xmlsec(taken_out, default_credential())

    fe = FeHere(tmp_path, "", monkeypatch, capsys)
    monkeypatch.setattr(integrator_signed, "system_clock", lambda: NOW)
    (tmp_path / "roots.pem").write_bytes(default_root().certificate.public_bytes(Encoding.PEM))
    (tmp_path / "changed.xml").write_bytes(taken_out.replace(b">14232.00<", b">14.32<"))
    assert {one["state"] for one in fe.json("verify", "receipt.xml", "--roots", "roots.pem")} == {"ok"}
    assert fe("verify", "changed.xml", "--roots", "roots.pem").code == 1


def test_deferred_receipt_without_verdict_has_its_legend_and_is_no_preview() -> None:
    root = parse_xml(COFFEE.read_bytes())
    expiry = root.find("Encabezado/IdDoc/FechaVencimientoSecuencia")
    assert expiry is not None
    mark = etree.Element("IndicadorEnvioDiferido")
    mark.text = "1"
    expiry.addnext(mark)

    printed = reading.text(pdf(sign(root), PrintOptions(standing=FiscalStanding.PREVIEW)))

    assert LEGENDS["deferred"] in printed
    assert "Vista previa" not in printed
    in_test = PrintOptions(standing=FiscalStanding.PREVIEW, environment=Environment.TESTECF, layout=PaperSize.ROLL_80)
    assert "Comprobante de prueba, sin valor fiscal" in " ".join(decode(ticket(sign(root), in_test)).text.split())


@pytest.mark.parametrize(("language", "named"), [("es", "es-DO"), ("en", "en")])
def test_pdf_follows_the_rules_of_pdf_a_3b(language: str, named: str) -> None:
    """Those rules that qpdf can look at; no validator of the whole standard is at hand."""
    printed = pdf(signed(COFFEE), PrintOptions(language=language))  # type: ignore[arg-type]  # one of the two
    with reading.opened(printed) as opened:
        root = opened.Root
        metadata = opened.open_metadata()
        fonts = [font for page in opened.pages for font in page.Resources.Font.values()]
        descriptors = [font.DescendantFonts[0].FontDescriptor for font in fonts]

        assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"]) == ("3", "B")
        assert metadata["dc:title"] == "Factura de Crédito Fiscal Electrónica E310000000101"
        assert str(root.Lang) == named
        assert bool(root.MarkInfo.Marked)
        assert root.StructTreeRoot.K
        assert str(root.OutputIntents[0].S) == "/GTS_PDFA1"
        assert [str(spec.AFRelationship) for spec in root.AF] == ["/Source"]
        assert all("+" in str(one.FontName) and one.FontFile2 for one in descriptors)
        assert all(font.ToUnicode for font in fonts)
        assert not opened.is_encrypted
        assert "/JavaScript" not in root.Names
        assert [page for page in opened.pages if "/AA" in page or page.get("/Annots")] == []
        assert opened.check_pdf_syntax() == []
        assert min(printed[10:14]) > 0x7F
        assert opened.trailer.ID
        assert root.OutputIntents[0].DestOutputProfile.read_bytes()[12:20] == b"mntrRGB "
        assert "/Filter" not in root.Metadata
        assert {str(one.operator) for one in pikepdf.parse_content_stream(opened.pages[0])} <= _OPERATORS
        for font in fonts:
            said, drawn = _widths(font.DescendantFonts[0])
            assert said == pytest.approx(drawn, abs=1)


_OPERATORS = frozenset({"BT", "ET", "Tf", "Td", "Tm", "Tj", "rg", "re", "f", "w", "J", "BDC", "BMC", "EMC"})


def _widths(font: pikepdf.Object) -> tuple[list[float], list[float]]:
    """Widths of the glyphs of a font: those that the PDF says, and those of the font's own program."""
    places = font.CIDToGIDMap.read_bytes()
    said = [float(font.DW)] * (len(places) // 2)
    groups = iter(font.W)
    for first, then in zip(groups, groups, strict=True):
        if isinstance(then, pikepdf.Array):  # widths one by one, else one width from `first` to `then`
            said[int(first) : int(first) + len(then)] = map(float, then)
        else:
            said[int(first) : int(then) + 1] = [float(next(groups))] * (int(then) + 1 - int(first))
    program = TTFont(io.BytesIO(font.FontDescriptor.FontFile2.read_bytes()))
    order, scale = program.getGlyphOrder(), 1000 / program["head"].unitsPerEm
    glyphs = (order[high * 256 + low] for high, low in zip(places[::2], places[1::2], strict=True))
    return said, [program["hmtx"][glyph][0] * scale for glyph in glyphs]


@pytest.mark.parametrize("standing", [FiscalStanding.DEFERRED, FiscalStanding.CONTINGENCY])
def test_receipt_of_a_special_mode_has_its_legend(standing: FiscalStanding) -> None:
    assert LEGENDS[standing] in reading.text(pdf(signed(COFFEE), PrintOptions(standing=standing)))


def test_receipt_without_fiscal_value_has_a_watermark() -> None:
    assert reading.text(pdf(signed(COFFEE), PrintOptions(standing=FiscalStanding.VOID))).count("Sin valor fiscal") == 2
    assert "Vista previa" in reading.text(pdf(signed(COFFEE), PrintOptions(standing=FiscalStanding.PREVIEW)))


def test_copies_are_pages_with_their_marks() -> None:
    printed = reading.pages(pdf(signed(COFFEE), PrintOptions(copies=("Original", "Copia"))))

    assert ["ORIGINAL" in page.text for page in printed] == [True, False]
    assert ["COPIA" in page.text for page in printed] == [False, True]


HOSTILE = (
    "\u202eotxet\u202c",
    "W" * 80,
    "🧾🎉 日本語 שלום",
    "Z" + "\u0300\u0301\u0302\u0303" * 10,
    "(paréntesis) \\ <</Type>> BT ET",
)


@every_layout
def test_hostile_texts_are_printed_clean(layout: PaperSize) -> None:
    lines = [
        line(NombreItem=words.replace("\0", "").replace("\7", ""), DescripcionItem="Ñ" * 1000) for words in HOSTILE
    ]
    xml = sign(build(receipt(EcfType.CREDIT_FISCAL, lines)))

    document = pdf(xml, PrintOptions(layout=layout))

    printed = reading.pages(document)
    text = "".join(page.text for page in printed).replace(" ", "")
    assert "otxet" in text
    assert "W" * 5 in text
    assert "(paréntesis)\\<</Type>>BTET" in text
    assert not {"\u202e", "\u0303", "🧾"} & set(text)
    assert printed[0].codes
    assert reading.overlaps(document) == []


def global_discounts(number: int) -> dict[str, object]:
    return {
        "DescuentoORecargo": [
            {
                "NumeroLinea": str(one),
                "TipoAjuste": "D",
                "TipoValor": "$",
                "DescripcionDescuentooRecargo": f"Descuento número {one:02} acordado con el gerente",
                "MontoDescuentooRecargo": f"{one}.25",
                "IndicadorFacturacionDescuentooRecargo": "1",
            }
            for one in range(1, number + 1)
        ]
    }


@pytest.mark.parametrize(("lines", "pages"), [(2, 1), (14, 2), (26, 2)])
def test_twenty_global_discounts_are_rows_that_overlap_nothing(lines: int, pages: int) -> None:
    content = receipt(EcfType.CREDIT_FISCAL, [line("100.00")] * lines, DescuentosORecargos=global_discounts(20))

    printed = pdf(sign(build(content)), PrintOptions())

    read_back = reading.text(printed)
    assert [one for one in range(1, 21) if read_back.count(f"Descuento número {one:02} acordado") != 1] == []
    assert [one for one in range(1, 21) if f"-{one}.25" not in read_back] == []
    assert (reading.overlaps(printed), len(reading.pages(printed))) == ([], pages)


@pytest.mark.parametrize("layout", PaperSize)
def test_longest_names_are_printed_whole_and_overlap_nothing(layout: PaperSize) -> None:
    xml = sign(longest_texts())

    printed = pdf(xml, PrintOptions(layout=layout))

    squeezed = "".join(reading.text(printed).split())
    given = read(xml)
    names = [given.issuer.name, given.issuer.trade_name, *given.issuer.lines, given.items[0].name]
    assert given.buyer is not None
    assert [name for name in (*names, given.buyer.name) if "".join(name.split()) not in squeezed] == []
    assert reading.overlaps(printed) == []


def longest_texts() -> etree._Element:
    """Beer of the longest names, the largest amounts and the most forms of payment that the schema permits."""
    root = parse_xml(next(path for path in GOLDEN if "beer" in path.stem).read_bytes())
    texts = {
        "RazonSocialEmisor": "W" * 150,
        "NombreComercial": "Ñandú " * 25,
        "DireccionEmisor": "M" * 100,
        "RazonSocialComprador": "WM" * 75,
        "NombreItem": "W" * 80,
        "DescripcionItem": "Ñ" * 1000,
    }
    payment = root.find("Encabezado/IdDoc/TipoPago")
    assert payment is not None
    forms = "".join(
        f"<FormaDePago><FormaPago>{form}</FormaPago><MontoPago>1.00</MontoPago></FormaDePago>" for form in range(1, 8)
    )
    payment.addnext(etree.fromstring(f"<TablaFormasPago>{forms}</TablaFormasPago>"))
    for element in root.iter(etree.Element):
        name = etree.QName(element).localname
        element.text = texts.get(name, element.text)
        if re.fullmatch(r"\d+\.\d\d", element.text or "") and name.startswith(("Monto", "Precio", "Total")):
            element.text = "9999999999999999.99"
    return root


def test_line_whose_computed_taxes_have_thirty_digits_is_printed() -> None:
    root = parse_xml(next(path for path in GOLDEN if "beer" in path.stem).read_bytes())
    for name in ("PrecioUnitarioReferencia", "PrecioUnitarioItem", "MontoItem", "CantidadItem"):
        for element in root.iter(name):
            element.text = "99999999999999.99"
    xml = sign(root)

    squeezed = "".join(reading.text(pdf(xml, PrintOptions())).split())

    assert "".join(read(xml).items[0].name.split()) in squeezed
    assert "99,999,999,999,999.99" in squeezed


@pytest.mark.parametrize(("number", "longest"), [(1_000, 45), (10_000, 400)])
def test_long_receipt_is_printed_whole(number: int, longest: int) -> None:
    ecf_type = EcfType.DEBIT_NOTE if number > 1_000 else EcfType.CREDIT_FISCAL
    with reading.opened(pdf(long_receipt(number, ecf_type), PrintOptions())) as opened:
        assert number / 30 < len(opened.pages) < longest


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (200, PrintOptions()),
        (1, PrintOptions(copies=("original", "copia", "archivo"))),
        (1, PrintOptions(layout=PaperSize.ROLL_80, copies=("original", "copia", "archivo"))),
    ],
    ids=["lines", "copies", "copies of a roll"],
)
def test_receipt_with_more_pages_than_the_limit_is_refused(
    lines: int, options: PrintOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canvas, "MAX_PAGES", 2)

    with pytest.raises(TooManyPages, match="more than 2 pages"):
        pdf(long_receipt(lines), options)

    assert len(reading.pages(pdf(long_receipt(1), PrintOptions(copies=("original", "copia"))))) == 2


@pytest.mark.parametrize("given", [b"", b"<ECF/>", b"%PDF", b"<RFCE><Encabezado/></RFCE>"])
def test_bytes_that_are_no_signed_receipt_are_refused(given: bytes) -> None:
    with pytest.raises(NotPrintable):
        pdf(given, PrintOptions())


@pytest.mark.parametrize(
    "wrong", [{"accent": "red"}, {"copies": ()}, {"copies": ("x" * 21,)}, {"footer": "x" * 401}], ids=str
)
def test_option_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"accent|copies|footer"):
        PrintOptions(**wrong)  # type: ignore[arg-type]  # on purpose
