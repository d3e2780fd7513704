"""What the codes in the authority's verdicts mean and what to do about them, in our own words (authority.md#messages).

There is no published list: this one holds the interface's table and what has been seen live. `codigo` is compared as it
came first (`004` is not `4`), then as a number.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Explanation:
    """One code: what it means, and what to do, in both languages."""

    code: str
    meaning: str
    meaning_es: str
    action: str
    action_es: str
    #: One peer reports it; nothing else is known of it.
    seen_once: bool = False


EXPLANATIONS = (
    Explanation(
        "1",
        "The XML does not follow the authority's format.",
        "El XML no cumple el formato de la DGII.",
        "Send the same payload to POST /invoices/validate, mend what it names, and issue it again.",
        "Envíe el mismo contenido a POST /invoices/validate, corrija lo que indique y emítalo de nuevo.",
    ),
    Explanation(
        "2",
        "The tax id of the issuer or the buyer does not exist, is not active, or may not issue electronically.",
        "El RNC del emisor o del comprador no existe, no está activo o no puede emitir electrónicamente.",
        "Check both tax ids in the authority's register; the issuer's is in your fiscal data.",
        "Verifique ambos RNC en el registro de la DGII; el del emisor está en sus datos fiscales.",
    ),
    Explanation(
        "3",
        "This number was used before.",
        "Este número ya fue utilizado.",
        "Look for the receipt that has the number (GET /invoices?encf=); a new receipt needs a new number.",
        "Busque el comprobante que tiene el número (GET /invoices?encf=); uno nuevo necesita otro número.",
    ),
    Explanation(
        "004",
        "The authority could not validate the receipt just then; it says to try again.",
        "La DGII no pudo validar el comprobante en ese momento; pide intentar de nuevo.",
        "Issue it again; the number is free.",
        "Emítalo de nuevo; el número queda libre.",
    ),
    Explanation(
        "4",
        "The number is not in a sequence that was authorised, or the sequence is exhausted.",
        "El número no está en una secuencia autorizada, o la secuencia está agotada.",
        "Compare your ranges (GET /ncf) with those the authority granted, ask it for more, and issue again.",
        "Compare sus rangos (GET /ncf) con los autorizados por la DGII, solicite más y emita de nuevo.",
    ),
    Explanation(
        "7",
        "The sequence has expired, or its expiry differs from the authorised one.",
        "La secuencia venció, o su vencimiento es distinto del autorizado.",
        "Correct expireAt of the sequence (PATCH /ncf/:prefix), or use a number of one that is in force.",
        "Corrija expireAt de la secuencia (PATCH /ncf/:prefix), o use un número de una vigente.",
    ),
    Explanation(
        "8",
        "The signature or its certificate is not valid, or its holder is not delegated for the issuer.",
        "La firma o su certificado no es válido, o su titular no está delegado por el emisor.",
        "Check the certificate's expiry and the delegation at the authority's virtual office, then issue again.",
        "Verifique el vencimiento del certificado y la delegación en la Oficina Virtual, y emita de nuevo.",
    ),
    Explanation(
        "13",
        "A total does not add up.",
        "Un total no cuadra.",
        "Leave Totales out and it is computed; or send it to POST /invoices/validate, which names each sum.",
        "Omita Totales y se calcula; o envíelo a POST /invoices/validate, que indica cada suma.",
    ),
    Explanation(
        "64",
        "A debit note (33) that cancels a receipt (CodigoModificacion 1) was refused; the text was empty.",
        "Se rechazó una nota de débito (33) que anula un comprobante (CodigoModificacion 1); el texto vino vacío.",
        "Use CodigoModificacion 3 to correct amounts, or a credit note (34) to cancel the receipt.",
        "Use CodigoModificacion 3 para corregir montos, o una nota de crédito (34) para anular el comprobante.",
        seen_once=True,
    ),
    Explanation(
        "75",
        "The number of the sequence is not authorised.",
        "El número de secuencia no está autorizado.",
        "Compare your ranges (GET /ncf) with those the authority granted.",
        "Compare sus rangos (GET /ncf) con los autorizados por la DGII.",
    ),
    Explanation(
        "176",
        "IndicadorMontoGravado is not valid, or is missing where lines are taxed.",
        "IndicadorMontoGravado no es válido, o falta habiendo líneas gravadas.",
        "Send 0 (amounts without ITBIS) or 1 (with it), or leave it out and it is filled in.",
        "Envíe 0 (montos sin ITBIS) o 1 (con ITBIS), u omítalo y se completa.",
        seen_once=True,
    ),
    Explanation(
        "260",
        "The ITBIS withheld of a purchase (41) is not valid.",
        "El ITBIS retenido de una compra (41) no es válido.",
        "Give MontoITBISRetenido in each line's Retencion, 0 where nothing is withheld, and leave Totales out.",
        "Indique MontoITBISRetenido en la Retencion de cada línea, 0 donde no se retiene, y omita Totales.",
        seen_once=True,
    ),
    Explanation(
        "614",
        "The receipt named in NCFModificado was not issued, or is not valid for a note.",
        "El comprobante de NCFModificado no ha sido emitido, o no es válido para una nota.",
        "Look at the receipt it modifies. If it was rejected, issue it again first; if it has no verdict yet, wait for "
        "it; if it is accepted, check its number. Then issue the note again.",
        "Consulte el comprobante que modifica. Si fue rechazado, emítalo antes de nuevo; si aún no tiene resultado, "
        "espérelo; si fue aceptado, verifique su número. Luego emita la nota de nuevo.",
    ),
    Explanation(
        "634",
        "FechaNCFModificado is not the date of the receipt that the note modifies.",
        "FechaNCFModificado no es la fecha del comprobante que la nota modifica.",
        "Leave FechaNCFModificado out and it is filled in for receipts issued here, or copy it from the receipt.",
        "Omita FechaNCFModificado y se completa para comprobantes emitidos aquí, o cópiela del comprobante.",
        seen_once=True,
    ),
    Explanation(
        "1100",
        "FechaLimitePago is missing in a sale on credit, or is not valid.",
        "Falta FechaLimitePago en una venta a crédito, o no es válida.",
        "Give the day by which it is to be paid, not before the day of issue.",
        "Indique hasta qué día se paga, no anterior a la fecha de emisión.",
        seen_once=True,
    ),
    Explanation(
        "1209",
        "This number was used before, or was voided.",
        "Este número ya fue utilizado, o fue anulado.",
        "Look for the receipt that has the number (GET /invoices?encf=); a new receipt needs a new number.",
        "Busque el comprobante que tiene el número (GET /invoices?encf=); uno nuevo necesita otro número.",
    ),
    Explanation(
        "1381",
        "The buyer's tax id is missing in a consumer invoice (32) of 250,000 pesos or more.",
        "Falta el RNC o la cédula del comprador en una factura de consumo (32) de 250,000 pesos o más.",
        "Give RNCComprador and RazonSocialComprador; a foreign id may not be enough.",
        "Indique RNCComprador y RazonSocialComprador; una identificación extranjera puede no bastar.",
        seen_once=True,
    ),
    Explanation(
        "1930",
        "MontoGravadoI1 is missing, though lines are taxed at 18%.",
        "Falta MontoGravadoI1, habiendo líneas gravadas al 18%.",
        "Leave Totales out and it is computed.",
        "Omita Totales y se calcula.",
        seen_once=True,
    ),
    Explanation(
        "1934",
        "MontoGravadoI1 differs from what the lines come to; seen with an acceptance with remarks.",
        "MontoGravadoI1 difiere de lo que suman las líneas; se vio con una aceptación condicional.",
        "Leave Totales out of the next ones and it is computed; where the receipt was accepted, nothing is to be done.",
        "Omita Totales en los siguientes y se calcula; si el comprobante fue aceptado, no hay que hacer nada.",
        seen_once=True,
    ),
    Explanation(
        "2020",
        "The discounts of a line (TablaSubDescuento) do not add up to its DescuentoMonto.",
        "Los descuentos de una línea (TablaSubDescuento) no suman su DescuentoMonto.",
        "Make the entries add up, or leave DescuentoMonto out and it is computed.",
        "Haga que las entradas sumen, u omita DescuentoMonto y se calcula.",
    ),
    Explanation(
        "2030",
        "The surcharges of a line (TablaSubRecargo) do not add up to its RecargoMonto.",
        "Los recargos de una línea (TablaSubRecargo) no suman su RecargoMonto.",
        "Make the entries add up, or leave RecargoMonto out and it is computed.",
        "Haga que las entradas sumen, u omita RecargoMonto y se calcula.",
    ),
    Explanation(
        "2150",
        "TablaSubcantidad of a line is not valid.",
        "TablaSubcantidad de una línea no es válida.",
        "Check the quantities and units of the goods that are taxed by content.",
        "Verifique las cantidades y unidades de los bienes gravados por contenido.",
    ),
    Explanation(
        "3205",
        "MontoTotal is not what the lines and taxes add up to.",
        "MontoTotal no es lo que suman las líneas y los impuestos.",
        "Leave Totales out of the next ones and it is computed; where the receipt was accepted, nothing is to be done.",
        "Omita Totales en los siguientes y se calcula; si el comprobante fue aceptado, no hay que hacer nada.",
    ),
    Explanation(
        "3243",
        "The file name that the document was sent under has a wrong length.",
        "El nombre del archivo con que se envió el documento tiene una longitud incorrecta.",
        "Check the issuer's tax id and the number: the service makes the name of these two.",
        "Verifique el RNC del emisor y el número: el servicio forma el nombre con ambos.",
    ),
)
#: A refusal or remark under any other code, or under 0 with a text.
OTHER = Explanation(
    "",
    "The authority gives its reason as a text: see valor.",
    "La DGII da su motivo como texto: vea valor.",
    "Mend what the text names; POST /invoices/validate often says it more exactly.",
    "Corrija lo que indica el texto; POST /invoices/validate suele decirlo con más exactitud.",
)
_BY_CODE = {each.code: each for each in EXPLANATIONS}


def explain(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Explanation]]:
    """Explain the messages of a verdict: each code as it came, once. An empty text under 0 says nothing."""
    seen = set()
    for message in messages:
        code, text = str(message.get("codigo", "")), str(message.get("valor", "")).strip()
        bare = code.lstrip("0")
        if code in seen or (not bare and text in ("", "Aceptado")):
            continue
        seen.add(code)
        yield code, _BY_CODE.get(code) or _BY_CODE.get(bare) or OTHER


_PAGES = {
    "en": ("What the authority's codes mean", "Code", "Meaning", "What to do", "others, and 0 with a text"),
    "es": ("Qué significan los códigos de la DGII", "Código", "Significado", "Qué hacer", "otros, y 0 con texto"),
}
_WORDS = {
    "en": "Made from `fe/ecf/verdicts.py`. The status answer of a submission has the same in `explained`, beside the "
    "authority's own `response.mensajes`. The authority publishes no list: these were seen, or the interface has them. "
    "*Seen once*: one provider reports it.",
    "es": "Hecho a partir de `fe/ecf/verdicts.py`. La consulta de estado de un envío trae lo mismo en `explained`, "
    "junto a `response.mensajes` de la DGII. La DGII no publica una lista: estos se han visto, o los trae la interfaz. "
    "*Visto una vez*: lo informa un solo proveedor.",
}


def page(language: Literal["en", "es"]) -> str:
    """Write the page of documentation in a language."""
    title, code, meaning, action, others = _PAGES[language]
    once = {"en": " (seen once)", "es": " (visto una vez)"}[language]
    rows = [
        (
            f"{each.code or others}{once if each.seen_once else ''}",
            *((each.meaning, each.action) if language == "en" else (each.meaning_es, each.action_es)),
        )
        for each in (*EXPLANATIONS, OTHER)
    ]
    lines = [f"| {code} | {meaning} | {action} |", "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in rows)]
    return f"# {title}\n\n{_WORDS[language]}\n\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page("es" if sys.argv[1:] == ["es"] else "en"))
