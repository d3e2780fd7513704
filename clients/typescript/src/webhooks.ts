/** Whether a call was made by the service: to be asked before anything in it is believed. */

import type { CertificateEvent, ProbeEvent, ReceivedEcfEvent, SequenceEvent, SubmissionEvent } from './core.js';
import { WebhookRefusedError } from './errors.js';
import { webCrypto } from './random.js';

/** What a call may say; `event` tells which. Kinds and fields may be added: pass over what you do not know. */
export type FeEvent = ReceivedEcfEvent | SubmissionEvent | SequenceEvent | CertificateEvent | ProbeEvent;

/** Headers as a framework has them: `Headers`, or an object of names in any case. */
export type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** The time of day in seconds since 1970; for tests. */
  now?: number;
  /** Seconds by which a call may be older, or newer, than now: 300. */
  tolerance?: number;
}

/**
 * Check a call by its Standard Webhooks headers, and give what it says.
 *
 * `secret` is as it was shown, `whsec_` and all; `body` the very bytes that came (or their text), before anything parsed
 * them. Store a call once, under its `webhook-id`: one whose answer was lost comes again.
 *
 * Throws WebhookRefusedError: not ours, changed on its way, or older than five minutes. Answer 401 then.
 */
export async function verifyWebhook(
  secret: string,
  headers: HeadersLike,
  body: Uint8Array | string,
  options: VerifyOptions = {},
): Promise<FeEvent> {
  const call = headerOf(headers, 'webhook-id');
  const moment = headerOf(headers, 'webhook-timestamp');
  if (!/^[0-9]{1,12}$/.test(moment)) throw new WebhookRefusedError('webhook-timestamp is no moment');
  if (Math.abs((options.now ?? Date.now() / 1000) - Number(moment)) > (options.tolerance ?? 300)) {
    throw new WebhookRefusedError('the call is too old, or a clock is wrong');
  }
  const bytes = bytesOf(body);
  const signed = joined(bytesOf(`${call}.${moment}.`), bytes);
  const fits = await Promise.all(
    headerOf(headers, 'webhook-signature')
      .split(' ')
      .map((one) => isSignature(fromBase64(secret.replace(/^whsec_/, '')), signed, one)),
  );
  if (!fits.includes(true)) throw new WebhookRefusedError('no signature in webhook-signature fits');
  return eventOf(bytes);
}

/**
 * Check a call by `X-Service-Signature` alone, and give what it says.
 *
 * For those who cannot see the other headers. It says less than `verifyWebhook`: the same call is as good next year.
 * Throws WebhookRefusedError.
 */
export async function verifyServiceSignature(
  secret: string,
  headers: HeadersLike,
  body: Uint8Array | string,
): Promise<FeEvent> {
  const bytes = bytesOf(body);
  const hex = /^sha256=([0-9a-f]{64})$/.exec(headerOf(headers, 'x-service-signature'))?.[1];
  const signature = hex === undefined ? undefined : Uint8Array.from(hex.match(/../g) ?? [], (two) => parseInt(two, 16));
  if (signature === undefined || !(await verified(bytesOf(secret), bytes, signature))) {
    throw new WebhookRefusedError('X-Service-Signature does not fit');
  }
  return eventOf(bytes);
}

type Bytes = Uint8Array<ArrayBuffer>;

async function isSignature(key: Bytes, signed: Bytes, one: string): Promise<boolean> {
  const [kind, text] = [one.slice(0, 3), one.slice(3)];
  if (kind !== 'v1,' || !/^[A-Za-z0-9+/]{43}=$/.test(text)) return false;
  return verified(key, signed, fromBase64(text));
}

/** The comparison is WebCrypto's, in constant time. */
async function verified(key: Bytes, signed: Bytes, signature: Bytes): Promise<boolean> {
  const { subtle } = await webCrypto();
  const imported = await subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  return subtle.verify('HMAC', imported, signature, signed);
}

function eventOf(bytes: Bytes): FeEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new WebhookRefusedError('the body is no JSON', { cause: error });
  }
  if (typeof event !== 'object' || event === null || typeof (event as { event?: unknown }).event !== 'string') {
    throw new WebhookRefusedError('the body is no event');
  }
  return event as FeEvent; // signed by the service, which says what it holds
}

function headerOf(headers: HeadersLike, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : (found?.join(' ') ?? '');
}

function bytesOf(text: Uint8Array | string): Bytes {
  return typeof text === 'string' ? new TextEncoder().encode(text) : Uint8Array.from(text);
}

function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function joined(first: Bytes, second: Bytes): Bytes {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
