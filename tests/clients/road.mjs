// Hands in the receipts that come on standard input, all at once, and one that is to be refused; tells what became of it.
import { text } from 'node:stream/consumers';
import { Fe } from 'fe-client';

const receipts = Object.entries(JSON.parse(await text(process.stdin)));
const fe = new Fe(process.env.FE_URL, process.env.FE_API_KEY_ID, process.env.FE_API_SECRET, { language: 'es' });
const issue = async ([clientRequestId, receipt, simulate]) => [
  clientRequestId,
  await fe.submitAndWait(receipt, { clientRequestId, simulate, notify: 'compras@cliente.com.do' }),
];
const refusal = ['refused', receipts[0][1], { outcome: 'rejected', code: 4 }];
const verdicts = Object.fromEntries(await Promise.all([...receipts, refusal].map(issue)));
const listed = [];
for await (const item of fe.invoices({ pageSize: 4 })) listed.push(item.clientRequestId);
const ended = new AbortController();
ended.abort();
const refused = async (call) => call.then(() => undefined, (error) => error.name);
const webhook = await fe.setWebhook({ url: 'https://erp.example.com/hooks/fe' });
const test = await fe.testWebhook();
const deliveries = [];
for await (const delivery of fe.deliveries({ event: 'test' })) deliveries.push(delivery.id);
const nobody = '00000000-0000-7000-8000-000000000000';
const { taxLogId } = verdicts.E31;
await fe.setPrinting({ footer: 'Gracias' });
await fe.setMail({ enabled: true, replyTo: 'ventas@ozama.do' });
const uploaded = await fe.importReceipts(await fe.importTemplate('E32')).catch((error) => error.name);
const sheet = 'Comprobante,TipoeCF,NombreItem,IndicadorBienoServicio,CantidadItem,PrecioUnitarioItem,IndicadorFacturacion';
const imported = await fe.importReceipts(Buffer.from(`${sheet}\nTS-1,32,Café,1,1,100,9`), 'ventas.csv');
let known = imported;
while (known.state === 'validating') {
  await new Promise((resolve) => setTimeout(resolve, 100));
  known = await fe.importStatus(imported.importId);
}
await fe.putCustomer('C-001', { name: 'Ana', version: 0 });
await fe.putProduct('P-1', { name: 'Pan', price: 5.5 });
const catalogue = [];
for await (const customer of fe.customers({ q: 'an' })) catalogue.push(customer.name);
for await (const product of fe.products()) catalogue.push(product.price);
catalogue.push((await fe.customer('C-001')).version, (await fe.product('P-1')).id);
catalogue.push((await fe.deleteCustomer('C-001', { version: 1 })).ok, (await fe.deleteProduct('P-1')).ok);
const put = await fe.putRecurring('R-1', { name: 'Renta', day: 1, payload: { Encabezado: { IdDoc: { TipoeCF: '31' } } } });
const agent = '5f0d1c1e-6c0d-4a0b-9d0a-2f1f6f8f7a11';
const recurring = [put.version, (await fe.leaseAgent(agent, { epoch: 0, nonce: agent })).epoch];
for await (const one of fe.recurring()) recurring.push(one.id);
recurring.push((await fe.decideRecurringTurn('R-1', put.nextOn.slice(0, 7), 'skip')).turns[0].status);
recurring.push((await fe.recurringReceipt('R-1')).day, (await fe.deleteRecurring('R-1', { version: 1 })).ok);
const prints = [
  fe.pdf(taxLogId, { layout: '80mm' }),
  fe.ticket(taxLogId),
  fe.qrPng(taxLogId),
  fe.qrSvg(taxLogId),
  fe.pdfs([taxLogId]),
];
const parts = [];
const to = new WritableStream({ write: (part) => void parts.push(part) });
const rest = await fe.pdfs(undefined, { encf: verdicts.E31.eNCF, clientRequestId: 'E31', to });
process.stdout.write(
  JSON.stringify({
    verdicts,
    listed,
    proof: await fe.xml(verdicts.E31.taxLogId),
    previewed: (await fe.preview(receipts[0][1])).payload !== null,
    footer: (await fe.printing()).footer,
    imports: [
      uploaded,
      known.faults[0].row,
      await refused(fe.issueImport(imported.importId)),
      Buffer.from(await fe.importWorkbook(imported.importId)).toString().includes('TS-1'),
    ],
    catalogue,
    recurring,
    replyTo: (await fe.mail()).replyTo,
    archived: [Buffer.concat(parts).toString('hex', 0, 4), rest.length, await refused(fe.receivedPdfs([nobody]))],
    printed: (await Promise.all(prints)).map((made) => Buffer.from(made.subarray(0, 4)).toString('hex')),
    month: [
      Buffer.from(await fe.monthWorkbook('2026-01')).toString('latin1', 0, 2),
      (await fe.month606('2026-01')).rows,
      (await fe.month608('2026-01')).rows,
      (await fe.classifyPurchases('101000001', { kind: '02' })).itbis,
      await refused(fe.monthArchive('2026-01')),
    ],
    events: (await fe.timeline(verdicts.E31.taxLogId)).events.length,
    ended: await refused(fe.ncf({ signal: ended.signal })),
    put: (await fe.putNcf({ prefix: 'E31', maxSequence: 5000, expireAt: '2028-12-31' })).maxSequence,
    changed: (await fe.changeNcf('E31', { isActive: false })).isActive,
    deleted: [(await fe.deleteNcf('E47')).prefix, await refused(fe.deleteNcf('E47'))],
    found: (await Promise.all([fe.status(nobody), fe.receivedDocument(nobody), fe.receivedXml(nobody), fe.delivery(nobody)])).filter(Boolean),
    shared: [(await fe.share(verdicts.E31.taxLogId)).url, (await fe.revokeShare(verdicts.E31.taxLogId)).revoked],
    decided: [await refused(fe.approve(nobody)), await refused(fe.reject(nobody, 'no'))],
    received: await fe.received().next(),
    usage: (await fe.usage({ days: 1, today: true })).items,
    billing: (await fe.billing()).emissionsAccepted,
    webhooks: [(await fe.webhooks()).items.length, (await fe.rotateWebhook()).secret !== webhook.secret],
    deliveries: [deliveries, test.id, (await fe.delivery(test.id)).event],
    recovered: (await fe.recoverWebhook(new Date(0))).id === (await fe.webhookRecoveries())[0].id,
  }),
);
