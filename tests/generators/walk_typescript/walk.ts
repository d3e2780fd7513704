// The road with what openapi-typescript made of the description (description.ts) and openapi-fetch, typed all the way.
//
// Compiled and run beside it: `node walk.js BASE KEY SECRET`. From standard input come more bodies to submit, a list; what it
// saw goes to standard output, as JSON.

import { readFileSync } from "node:fs";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./description.js";

type Schemas = components["schemas"];

/** The body of an answer, where it is the one that was hoped for. */
function expect<T>(result: { data?: T; error?: unknown; response: Response }): T {
  if (result.data === undefined) throw new Error(`${result.response.status}: ${JSON.stringify(result.error)}`);
  return result.data;
}

/** A credit invoice for ten tables; number, issuer and totals are filled in. */
function receipt(price: number | string): Schemas["Ecf31"] {
  return {
    Encabezado: {
      IdDoc: { TipoeCF: "31", TipoIngresos: "01", TipoPago: "1" },
      Comprador: { RNCComprador: "131880681", RazonSocialComprador: "Hotel Brisas del Yaque SRL" },
    },
    DetallesItems: {
      Item: [
        {
          NombreItem: "Mesa plegable de caoba",
          IndicadorFacturacion: "1",
          IndicadorBienoServicio: "1",
          CantidadItem: 10,
          UnidadMedida: "43",
          PrecioUnitarioItem: price,
        },
      ],
    },
  };
}

/** Ask until there is a verdict. */
async function awaited(client: Client<paths>, trackOrId: string): Promise<Schemas["GetInvoiceAnswer"]> {
  for (;;) {
    const params = { path: { trackOrId }, query: { wait: 30 } };
    const record = expect(await client.GET("/api/v1/fe/invoices/{trackOrId}", { params }));
    if (record.status !== "queued" && record.status !== "En Proceso") return record;
  }
}

async function main(baseUrl: string, apiKeyId: string, apiSecret: string) {
  const anybody = createClient<paths>({ baseUrl });
  const token = expect(await anybody.POST("/api/v1/fe/login", { body: { apiKeyId, apiSecret } }));
  const headers = { Authorization: `Bearer ${token.accessToken}` };
  const client = createClient<paths>({ baseUrl, headers });

  const sequence = expect(
    await client.POST("/api/v1/fe/ncf", { body: { prefix: "E31", maxSequence: 5000, expireAt: "2028-12-31" } }),
  );
  const sequences = expect(await client.GET("/api/v1/fe/ncf"));

  const body: Schemas["NewInvoice"] = {
    format: "structured",
    payload: receipt("4800.00"),
    clientRequestId: "walk-typescript",
  };
  const taken = expect(await client.POST("/api/v1/fe/invoices", { body }));
  const record = await awaited(client, taken.taxLogId);
  const page = expect(await client.GET("/api/v1/fe/invoices", { params: { query: { limit: 10 } } }));
  const xml = expect(await client.GET("/api/v1/fe/invoices/{trackOrId}/xml", { params: { path: { trackOrId: taken.taxLogId } } }));

  // A comma between thousands: the service says so before the authority does.
  const wrong: Schemas["NewStructuredInvoice"] = { format: "structured", payload: receipt("4,800.00"), strict: true };
  const refused = await client.POST("/api/v1/fe/invoices", { body: wrong });
  const validation = expect(await client.POST("/api/v1/fe/invoices/validate", { body: wrong }));

  const more: Schemas["NewStructuredInvoice"][] = JSON.parse(readFileSync(0, "utf8"));
  const verdicts: [string, string][] = [];
  const allTaken: { taxLogId: string; eNCF?: string | undefined }[] = [];
  for (const body of more) allTaken.push(expect(await client.POST("/api/v1/fe/invoices", { body })));
  for (const one of allTaken) verdicts.push([one.eNCF ?? "", (await awaited(client, one.taxLogId)).status ?? ""]);
  return {
    environment: token.environment,
    prefixes: sequences.items.map((item) => item.prefix),
    sequence: sequence.prefix,
    taxLogId: taken.taxLogId,
    eNCF: taken.eNCF ?? "",
    status: record.status,
    securityCode: record.securityCode,
    listed: page.items.map((item) => item.taxLogId),
    xml: xml.xml,
    refused: refused.response.status === 400,
    problems: (refused.error?.problems ?? []).map((problem) => problem.path),
    valid: validation.valid,
    more: verdicts,
  };
}

const [baseUrl = "", apiKeyId = "", apiSecret = ""] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await main(baseUrl, apiKeyId, apiSecret)));
