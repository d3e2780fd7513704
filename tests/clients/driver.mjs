// Makes calls by the TypeScript client, as the tests say on standard input, one line of JSON for each; and tells each
// pause, and waits for a line before it goes on.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

if (process.argv[3] === 'as-node-18') delete globalThis.crypto; // which has it by import alone
const { Fe, FeError, verifyServiceSignature, verifyWebhook } = await import(pathToFileURL(process.argv[2]).href);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value ?? 'null');
const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const FIELDS = { status: 'status', retry_after: 'retryAfter', client_request_id: 'clientRequestId', problems: 'problems', request_id: 'requestId', items: 'items' };

async function called(order) {
  let now = 0;
  const sleep = async (seconds) => {
    now += seconds;
    tell({ slept: seconds });
    await next();
  };
  const fe = new Fe(order.url, 'fak_0', 'secret', { retries: { tries: order.tries }, sleep, clock: () => now, chance: () => 0 });
  if (order.patience !== null) {
    await fe.login();
    fe.session.timeout = order.patience;
  }
  const options = Object.fromEntries(Object.entries(order.options).map(([name, value]) => [camel(name), value]));
  const result = fe[camel(order.call)](...order.args, options);
  if (typeof result[Symbol.asyncIterator] !== 'function') {
    const value = (await result) ?? null;
    return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString() } : value;
  }
  const all = [];
  for await (const item of result) all.push(item);
  return all;
}

async function judged({ secret, calls }) {
  const valid = async (check) => check.then((event) => typeof event.event === 'string', () => false);
  return Promise.all(
    calls.map(async ({ headers, body, now }) => [
      await valid(verifyWebhook(secret, headers, Buffer.from(body), { now })),
      await valid(verifyServiceSignature(secret, new Headers(headers), body)),
    ]),
  );
}

for (let order = await next(); order !== null; order = await next()) {
  try {
    tell({ result: order.calls ? await judged(order) : await called(order), error: null });
  } catch (error) {
    if (!(error instanceof FeError || error instanceof TypeError)) throw error;
    if (error instanceof TypeError) {
      tell({ refused: error.message });
      continue;
    }
    const said = Object.entries(FIELDS).map(([name, field]) => [name, error[field]]);
    const fields = said.filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value !== undefined));
    tell({ result: null, error: { name: error.name, ...Object.fromEntries(fields) } });
  }
}
