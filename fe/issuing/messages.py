"""Problems that only a tenant's records show, in both languages; the codes are stable.

`fe.ecf.rules` reports problems that the document alone shows.
"""

from decimal import Decimal

from fe.ecf.catalogue import Root
from fe.ecf.document import Document
from fe.ecf.problems import Problem, Repair, Severity, show
from fe.ecf.texts import Text
from fe.identifiers import SubmissionId
from fe.lifecycle import Status


def number_taken(document: Document, holder: SubmissionId) -> Problem:
    """The number is accepted, or on its way, under another submission of this tenant in this environment."""
    return Problem(
        code="number-taken",
        path="Encabezado.IdDoc.eNCF",
        message=f"the number is that of another submission already, taxLogId {holder}",
        message_es=f"el número ya es de otro envío, taxLogId {holder}",
        found=document.e_ncf,
        fix="look at that submission; a receipt that was not issued yet needs a number of its own",
        fix_es="consulte ese envío; un comprobante aún no emitido necesita un número propio",
    )


def number_far_ahead(e_ncf: str, skipped: int, left: int) -> Problem:
    """The number skips many unused ones: a typing error can use a sequence up."""
    return Problem(
        code="number-far-ahead",
        path="Encabezado.IdDoc.eNCF",
        message=f"the number passes over {skipped} unused ones of its sequence; {left} are left behind it",
        message_es=f"el número salta {skipped} sin usar de su secuencia; quedan {left} después de él",
        found=e_ncf,
        fix=f"if it was a mistake, put currentSequence back with PATCH /ncf/{e_ncf[:3]} while it is not sent",
        fix_es=f"si fue un error, devuelva currentSequence con PATCH /ncf/{e_ncf[:3]} mientras no se haya enviado",
        severity=Severity.CONDITIONAL,
    )


def unknown_user(asked: str, found: str) -> Problem:
    """The tenant has no user with that id or address; `asked` is `asUser` or `asUserId`."""
    return Problem(
        code="unknown-user",
        path=asked,
        message=f"the tenant has no user with this {asked}",
        message_es=f"el contribuyente no tiene un usuario con este {asked}",
        found=show(found),
        fix="name a user of the tenant, or leave it out",
        fix_es="indique un usuario del contribuyente, u omítalo",
    )


def foreign_issuer(root: Root, path: str, rnc: str, own: str) -> Problem:
    """It is signed for one that is neither the tenant nor one of its users: a remark, not a refusal."""
    who, who_es = ("buyer", "comprador") if root is Root.ACECF else ("issuer", "emisor")
    return Problem(
        code="foreign-issuer",
        path=path,
        message=f"the {who} is not the tenant, nor one that its users issue for",
        message_es=f"el {who_es} no es el contribuyente, ni uno por el que emiten sus usuarios",
        found=show(rnc),
        expected=own or None,
        fix=f"make sure that the authority has delegated this {who}'s receipts to you",
        fix_es=f"asegúrese de que la autoridad le ha delegado los comprobantes de este {who_es}",
        severity=Severity.CONDITIONAL,
    )


def modified_not_accepted(e_ncf: str, submission: SubmissionId, status: Status) -> Problem:
    """The receipt that it modifies was not accepted, as far as is known here: a remark, not a refusal."""
    return Problem(
        code="modified-not-accepted",
        path="InformacionReferencia.NCFModificado",
        message=f"the receipt that it modifies was not accepted: taxLogId {submission} ended as {status}",
        message_es=f"el comprobante que modifica no fue aceptado: taxLogId {submission} terminó en {status}",
        found=e_ncf,
        fix="correct the number, or issue that receipt again first: else the authority rejects the note (code 614)",
        fix_es="corrija el número, o emita antes ese comprobante: si no, la DGII rechaza la nota (código 614)",
        severity=Severity.CONDITIONAL,
    )


_REFERENCE = "InformacionReferencia"


def modified_on_another_day(found: str, issued: str) -> Problem:
    """The note gives the receipt that it modifies another date than that receipt has."""
    return Problem(
        code="modified-date",
        path=f"{_REFERENCE}.FechaNCFModificado",
        message="the receipt that it modifies has another date: the authority rejects the note (code 634)",
        message_es="el comprobante que modifica tiene otra fecha: la DGII rechaza la nota (código 634)",
        found=show(found),
        expected=issued,
        fix="write the date of that receipt, or leave FechaNCFModificado out and it is filled in",
        fix_es="escriba la fecha de ese comprobante, u omita FechaNCFModificado y se completa",
        repair=Repair("set", f"{_REFERENCE}.FechaNCFModificado", value=issued, certain=False),
    )


def modified_of_another_buyer(found: str, buyer: str) -> Problem:
    """The note has another buyer than the receipt that it modifies: a remark, not a refusal."""
    return Problem(
        code="modified-buyer",
        path="Encabezado.Comprador.RNCComprador",
        message="the receipt that it modifies has another buyer",
        message_es="el comprobante que modifica tiene otro comprador",
        found=show(found),
        expected=buyer,
        fix="correct NCFModificado or the buyer; left out, the buyer of that receipt is filled in",
        fix_es="corrija NCFModificado o el comprador; si lo omite, se completa con el de ese comprobante",
        severity=Severity.CONDITIONAL,
    )


def credited_too_much(total: Decimal, before: Decimal, receipt: Decimal) -> Problem:
    """The credit notes on a receipt come to more than the receipt (authority.md#references)."""
    left = max(receipt - before, Decimal(0))
    return Problem(
        code="credited-too-much",
        path="Encabezado.Totales.MontoTotal",
        message=f"with the {before:.2f} of earlier credit notes this one credits more than the receipt's {receipt:.2f}",
        message_es=f"con los {before:.2f} de notas anteriores, esta nota acredita más que los {receipt:.2f} "
        "del comprobante",
        found=f"{total:.2f}",
        expected=f"<= {left:.2f}",
        fix="lower the note to what is left, or correct NCFModificado",
        fix_es="reduzca la nota a lo que queda, o corrija NCFModificado",
    )


def goes_out_whole(document: Document) -> Problem:
    """A consumer invoice under the threshold of a tenant whose program makes the summaries: a remark, not a refusal."""
    return Problem(
        code="goes-out-whole",
        path="Encabezado.Totales.MontoTotal",
        message="the authority takes nothing but the summary (RFCE) of this consumer invoice, which goes out whole",
        message_es="la DGII solo acepta el resumen (RFCE) de esta factura de consumo, que se envía completa",
        found=show(document.get("Encabezado.Totales.MontoTotal")),
        fix="hand in its RFCE, or have consumer invoices go out as their summary (company data in the portal)",
        fix_es="envíe su RFCE, o haga que las facturas de consumo se envíen como resumen (datos de la empresa, portal)",
        severity=Severity.CONDITIONAL,
    )


def no_certificate(said: Text) -> Problem:
    """No certificate could sign it at that moment; `said` is what the receipt would end with."""
    return Problem(
        code="no-certificate",
        path="",
        message=said.en,
        message_es=said.es,
        fix="have a certificate that is valid then put in before",
        fix_es="haga instalar antes un certificado vigente en ese momento",
    )
