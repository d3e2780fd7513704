// From the login to a verdict, with the client that openapi-generator makes for Go.
package main

import (
	"context"
	"encoding/json"
	"os"

	fe "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	config := fe.NewConfiguration()
	config.Servers = fe.ServerConfigurations{{URL: os.Args[1]}}
	client := fe.NewAPIClient(config)
	ctx := context.Background()
	token, _, err := client.LoginAPI.Login(ctx).LoginRequest(*fe.NewLoginRequest(os.Args[2], os.Args[3])).Execute()
	check(err)
	ctx = context.WithValue(ctx, fe.ContextAccessToken, token.AccessToken)

	quantity, price := "2", "450.50"
	item := fe.NewEcfItem31("Martillo", fe.GOODS, fe.EcfQuantityAbove0{String: &quantity}, fe.EcfPrice{String: &price})
	item.SetIndicadorFacturacion(fe.BILLABLE_INDICATOR_ITBIS_18_PERCENT)
	id := fe.NewEcfIdDoc31(fe.OPERATIONS_NOT_FINANCIAL, fe.PAYMENT_TYPE_CASH)
	id.SetTipoeCF("31")
	header := fe.NewEcfEncabezado31(
		*id,
		*fe.NewEcfComprador31("131880657", "Cliente SRL"),
	)
	receipt := fe.NewEcf31(*header, *fe.NewEcfDetallesItems31([]fe.EcfItem31{*item}))
	invoice := fe.NewNewStructuredInvoice("structured", fe.NewStructuredInvoicePayload{Ecf31: receipt})
	invoice.SetClientRequestId(os.Args[4])
	body := fe.NewStructuredInvoiceAsNewInvoice(invoice)

	taken, _, err := client.SubmissionsAPI.SubmitInvoice(ctx).NewInvoice(body).Execute()
	check(err)
	again, _, err := client.SubmissionsAPI.SubmitInvoice(ctx).NewInvoice(body).Execute()
	check(err)
	found, _, err := client.SubmissionsAPI.GetInvoice(ctx, taken.TaxLogId).Wait(30).Execute()
	check(err)
	missing, _, err := client.SubmissionsAPI.GetInvoice(ctx, "00000000-0000-7000-8000-000000000000").Execute()
	check(err)
	webhooks, _, err := client.WebhooksAPI.ListWebhooks(ctx).Execute()
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status": found.GetStatus(), "eNCF": found.GetENCF(), "billable": taken.GetBillable(),
		"deduped": again.GetDeduped(), "found": missing.GetFound(), "webhooks": len(webhooks.Items),
	}))
}
