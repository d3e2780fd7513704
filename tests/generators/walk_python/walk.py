"""The road with a client that openapi-python-client made of the description (`generated`), typed all the way.

Run beside the generated package: `python walk.py BASE KEY SECRET`. From standard input come more bodies to submit, a
list; what it saw goes to standard output, as JSON.
"""

import json
import sys
from http import HTTPStatus
from typing import TypeVar

from generated import AuthenticatedClient, Client
from generated.api.login import login
from generated.api.number_sequences import list_sequences, put_sequence
from generated.api.submissions import get_invoice, get_invoice_xml, list_invoices, submit_invoice, validate_invoice
from generated.models import (
    Ecf31,
    EcfBillableIndicator,
    EcfComprador31,
    EcfDetallesItems31,
    EcfEncabezado31,
    EcfGoodsOrService,
    EcfIdDoc31,
    EcfIncomeType,
    EcfItem31,
    EcfPaymentType,
    EcfUnit,
    Error,
    GetInvoiceAnswer,
    GetInvoiceXmlAnswer,
    ListInvoicesAnswer,
    LoginRequest,
    NewSequence,
    NewSequencePrefix,
    NewStructuredInvoice,
    NumberSequence,
    Sequences,
    SubmitInvoiceAnswer,
    Token,
    Validation,
)

T = TypeVar("T")


def expect(kind: type[T], answer: object) -> T:
    """The answer, where it is of the kind that was hoped for."""
    if not isinstance(answer, kind):
        raise SystemExit(f"no {kind.__name__}: {answer}")
    return answer


def receipt(price: float | str) -> Ecf31:
    """A credit invoice for ten tables; number, issuer and totals are filled in."""
    line = EcfItem31(
        nombre_item="Mesa plegable de caoba",
        indicador_facturacion=EcfBillableIndicator.BILLABLE_INDICATOR_ITBIS_18_PERCENT,
        indicador_bieno_servicio=EcfGoodsOrService.GOODS,
        cantidad_item=10,
        unidad_medida=EcfUnit.UNIT,
        precio_unitario_item=price,
    )
    return Ecf31(
        encabezado=EcfEncabezado31(
            id_doc=EcfIdDoc31(
                tipoe_cf="31",
                tipo_ingresos=EcfIncomeType.OPERATIONS_NOT_FINANCIAL,
                tipo_pago=EcfPaymentType.PAYMENT_TYPE_CASH,
            ),
            comprador=EcfComprador31(rnc_comprador="131880681", razon_social_comprador="Hotel Brisas del Yaque SRL"),
        ),
        detalles_items=EcfDetallesItems31(item=[line]),
    )


def awaited(client: AuthenticatedClient, its_id: str) -> GetInvoiceAnswer:
    """Ask until there is a verdict."""
    record = expect(GetInvoiceAnswer, get_invoice.sync(its_id, client=client, wait=30))
    while record.status in ("queued", "En Proceso"):
        record = expect(GetInvoiceAnswer, get_invoice.sync(its_id, client=client, wait=30))
    return record


def main(base: str, key_id: str, secret: str) -> dict[str, object]:
    """Walk it, and give what was seen."""
    more = [NewStructuredInvoice.from_dict(body) for body in json.load(sys.stdin)]
    with Client(base_url=base) as anybody:
        token = expect(Token, login.sync(client=anybody, body=LoginRequest(api_key_id=key_id, api_secret=secret)))
    with AuthenticatedClient(base_url=base, token=token.access_token) as client:
        sequence = NewSequence(prefix=NewSequencePrefix.E31, max_sequence=5000, expire_at="2028-12-31")
        one = expect(NumberSequence, put_sequence.sync(client=client, body=sequence))
        sequences = expect(Sequences, list_sequences.sync(client=client))

        invoice = NewStructuredInvoice(
            format_="structured", payload=receipt("4800.00"), client_request_id="walk-python"
        )
        taken = expect(SubmitInvoiceAnswer, submit_invoice.sync(client=client, body=invoice))
        its_id = taken.tax_log_id
        record = awaited(client, its_id)
        page = expect(ListInvoicesAnswer, list_invoices.sync(client=client, limit=10))
        document = expect(GetInvoiceXmlAnswer, get_invoice_xml.sync(its_id, client=client))

        # A comma between thousands: the service says so before the authority does.
        wrong = NewStructuredInvoice(format_="structured", payload=receipt("4,800.00"), strict=True)
        refused = submit_invoice.sync_detailed(client=client, body=wrong)
        error = expect(Error, refused.parsed)
        looked_at = expect(Validation, validate_invoice.sync(client=client, body=wrong))

        all_taken = [expect(SubmitInvoiceAnswer, submit_invoice.sync(client=client, body=body)) for body in more]
        verdicts = [awaited(client, one.tax_log_id) for one in all_taken]
    return {
        "environment": token.environment,
        "prefixes": [item.prefix for item in sequences.items],
        "sequence": one.prefix,
        "taxLogId": its_id,
        "eNCF": taken.e_ncf or "",
        "status": record.status,
        "securityCode": record.security_code,
        "listed": [item.tax_log_id for item in page.items],
        "xml": document.xml or "",
        "refused": refused.status_code is HTTPStatus.BAD_REQUEST,
        "problems": [problem.path for problem in error.problems or []],
        "valid": looked_at.valid,
        "more": [[one.e_ncf, verdict.status] for one, verdict in zip(all_taken, verdicts, strict=True)],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])))
