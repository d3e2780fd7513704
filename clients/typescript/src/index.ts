/**
 * Client of fe, a service that issues electronic fiscal receipts (e-CF) to the tax authority of the Dominican Republic.
 *
 * `Fe` has the calls; what is sent and answered are objects, typed in `models`; what goes wrong is one of the errors.
 */

export type * as models from './core.js';
export * from './errors.js';
export { Fe } from './fe.js';
export type { ByUser, Checked, Decision, Document, ManyDecided, Moment, OneSequence, OnPaper, OnRoll, Receipt } from './fe.js';
export type { CallOptions, Options, Retries } from './session.js';
export { verifyServiceSignature, verifyWebhook } from './webhooks.js';
export type { FeEvent, HeadersLike, VerifyOptions } from './webhooks.js';

export const version = '0.1.0';
