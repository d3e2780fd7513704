import java.math.BigDecimal;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.LoginApi;
import org.openapitools.client.api.SubmissionsApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.*;

/** From the login to a verdict, with the client that openapi-generator makes for Java. */
public class Walk {
  public static void main(String[] arguments) throws ApiException {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    LoginRequest key = new LoginRequest().apiKeyId(arguments[1]).apiSecret(arguments[2]);
    String token = new LoginApi(client).login(key).getAccessToken();
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));

    Ecf31 receipt = new Ecf31()
        .encabezado(new EcfEncabezado31()
            .idDoc(new EcfIdDoc31().tipoeCF(EcfIdDoc31.TipoeCFEnum._31).tipoIngresos(EcfIncomeType.OPERATIONS_NOT_FINANCIAL).tipoPago(EcfPaymentType.PAYMENT_TYPE_CASH))
            .comprador(new EcfComprador31().rnCComprador("131880657").razonSocialComprador("Cliente SRL")))
        .detallesItems(new EcfDetallesItems31().item(List.of(new EcfItem31()
            .nombreItem("Martillo")
            .indicadorFacturacion(EcfBillableIndicator.BILLABLE_INDICATOR_ITBIS_18_PERCENT)
            .indicadorBienoServicio(EcfGoodsOrService.GOODS)
            .cantidadItem(new EcfQuantityAbove0(new BigDecimal("2")))
            .precioUnitarioItem(new EcfPrice("450.50")))));
    NewInvoice body = new NewInvoice(new NewStructuredInvoice()
        .format(NewStructuredInvoice.FormatEnum.STRUCTURED)
        .clientRequestId(arguments[3])
        .payload(new NewStructuredInvoicePayload(receipt)));

    SubmissionsApi submissions = new SubmissionsApi(client);
    SubmitInvoiceAnswer taken = submissions.submitInvoice(body, null);
    SubmitInvoiceAnswer again = submissions.submitInvoice(body, null);
    GetInvoiceAnswer found = submissions.getInvoice(taken.getTaxLogId(), 30, null);
    GetInvoiceAnswer missing = submissions.getInvoice("00000000-0000-7000-8000-000000000000", null, null);
    int webhooks = new WebhooksApi(client).listWebhooks().getItems().size();
    System.out.printf(
        "{\"status\":\"%s\",\"eNCF\":\"%s\",\"billable\":%s,\"deduped\":%s,\"found\":%s,\"webhooks\":%d}%n",
        found.getStatus().getValue(), found.geteNCF(), taken.getBillable(), again.getDeduped(), missing.getFound(),
        webhooks);
  }
}
