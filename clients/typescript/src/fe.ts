/** The client: everything that can be asked of the service. */

import type {
  AcceptedSubmission,
  ApprovalTaken,
  ArchiveList,
  BatchItem,
  AuthorityHealth,
  BillingPeriod,
  ChangedSequence,
  CustomerItem,
  CustomerRequest,
  DecidedItem,
  Deduped,
  Deleted,
  Delivery,
  DeliveryAgain,
  DeliveryDetail,
  EntryDeleted,
  FailedRequestAnswer,
  ImportAnswer,
  InvoicePreview,
  MailSettingsAnswer,
  MailSettingsRequest,
  ModeAnswer,
  PaperContent,
  PaperEnteredAnswer,
  PaperRangeAnswer,
  PaperRangeDeleted,
  PaperRangesAnswer,
  PaperReceiptAnswer,
  PaperReceiptRequest,
  PaperReceiptsAnswer,
  ReplacementsAnswer,
  MonthAnswer,
  PurchasesAnswer,
  ExpenseAnswer,
  ExpenseRequest,
  VoidedAnswer,
  NewInvoice,
  NewSequence,
  NumberSequence,
  PrintSettingsAnswer,
  PrintSettingsRequest,
  ProductItem,
  ProductRequest,
  ProposalsAnswer,
  ReceivedItem,
  ReceivedXml,
  Recovery,
  RecurringAnswer,
  RecurringDeleted,
  Lease,
  LeaseRequest,
  RecurringRequest,
  RecurringSummary,
  RevokedAnswer,
  Sequences,
  SandboxApproval,
  SandboxOutage,
  SandboxReceipt,
  SharedAnswer,
  Simulate,
  StatusAnswer,
  Submission,
  SubmissionItem,
  SubmissionXml,
  TaxpayerAnswer,
  Timeline,
  Token,
  UsageReport,
  Validation,
  VoidingAnswer,
  VoidingRequest,
  VoidingsAnswer,
  Webhook,
  WebhookDeleted,
  WebhookRequest,
  Webhooks,
} from './core.js';
import {
  AnswerLostError,
  ApiError,
  FeError,
  NotThereError,
  NoVerdictYetError,
  ReusedIdError,
  ServerAwayError,
  ThrottledError,
  UnavailableError,
} from './errors.js';
import { newId } from './random.js';
import { found, known, retryAfterOf, Session } from './session.js';
import type { CallOptions, Options } from './session.js';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** A receipt: the payload of a structured one (`models.Ecf31` and its like), or finished XML as a text. */
export type Document = string | object;

/** A date such as 2026-11-22, a timestamp, or a Date. */
export type Moment = string | Date;

export interface ByUser extends CallOptions {
  /** E-mail address: issue with that user's certificate. */
  asUser?: string | undefined;
  /** The same by id; wins over `asUser`. */
  asUserId?: string | undefined;
}

export interface Checked extends ByUser {
  /** Ask a sandbox for an outcome. */
  simulate?: Simulate | undefined;
  /** The name of the sequence that gives the number, where you have several of a type. */
  sequence?: string | undefined;
}

export interface OneSequence extends CallOptions {
  /** The sequence of the prefix with this name; without it the one that has none. */
  name?: string | undefined;
}

export interface Receipt extends Checked {
  /** The address that the accepted receipt is mailed to, where your mail is on. */
  notify?: string | undefined;
  /** Your order's number, say. With it you may repeat the call yourself without issuing twice; else one is made. */
  clientRequestId?: string | undefined;
  /** Your own labels; they come back with the submission, and `invoices` filters by them. */
  metadata?: Record<string, string> | undefined;
  /** Refuse at once what would not be sent: what the client says, which is true unless it was made otherwise. */
  strict?: boolean | undefined;
}

export interface Batch extends CallOptions {
  /** Refuse each receipt that would not be sent; the others are taken in. As of `submit`. */
  strict?: boolean | undefined;
}

export interface Decision extends ByUser {
  clientRequestId?: string | undefined;
}

export interface ManyDecided extends ByUser {
  /** Of a rejection: the issuers and the authority read it. */
  reason?: string | undefined;
}

export interface OnPaper extends CallOptions {
  layout?: 'letter' | 'a4' | '80mm' | '58mm' | undefined;
  /** Of the words beside the prescribed ones. */
  language?: 'es' | 'en' | undefined;
}

/** Filters by the content of receipts. `text` and totals need a period of at most 93 days. */
export interface ReceiptFilter {
  tipoEcf?: string | undefined;
  /** Days such as 2026-11-30. */
  issuedFrom?: string | undefined;
  issuedTo?: string | undefined;
  totalFrom?: string | undefined;
  totalTo?: string | undefined;
  text?: string | undefined;
}

interface Archive extends OnPaper, ReceiptFilter {
  /** Takes the ZIP as it arrives; none of it is returned then, and a ZIP that breaks off is not asked for again. */
  to?: WritableStream<Uint8Array> | undefined;
}

export interface ManyReceivedOnPaper extends Archive {
  /** Dates (their start and end in UTC) or timestamps of reception. */
  since?: Moment | undefined;
  until?: Moment | undefined;
  encf?: string | undefined;
  /** Of the supplier. */
  rnc?: string | undefined;
}

export interface ManyOnPaper extends Archive {
  /** Dates (their start and end in UTC) or timestamps of submission. */
  since?: Moment | undefined;
  until?: Moment | undefined;
  state?: string | undefined;
  encf?: string | undefined;
  clientRequestId?: string | undefined;
  /** Of the buyer. */
  rnc?: string | undefined;
}

export interface OnRoll extends OnPaper {
  layout?: '80mm' | '58mm' | undefined;
  /** `raster` draws the QR code, for printers without a command for it. */
  qr?: 'native' | 'raster' | undefined;
}

export interface Patience {
  /** Seconds: 180. */
  timeout?: number | undefined;
  /** The verdict, which is usual, or the signature. */
  until?: 'verdict' | 'signed' | undefined;
}

interface Listed extends CallOptions {
  since?: Moment;
  until?: Moment;
  pageSize?: number;
}

interface InCatalogue extends CallOptions {
  q?: string;
  pageSize?: number;
}

export interface OfEndpoint extends CallOptions {
  /** The name of one of several webhook endpoints; without it the default one. */
  endpoint?: string | undefined;
}

export interface OfVersion extends CallOptions {
  version?: number;
}

const CALL = ['signal'];
const BY_USER = [...CALL, 'asUser', 'asUserId'];
const CHECKED = [...BY_USER, 'simulate', 'sequence'];
const RECEIPT = [...CHECKED, 'clientRequestId', 'strict', 'notify', 'metadata'];
const DECISION = [...BY_USER, 'clientRequestId'];
const LISTED = [...CALL, 'since', 'until', 'pageSize'];
const CONTENT = ['tipoEcf', 'issuedFrom', 'issuedTo', 'totalFrom', 'totalTo', 'text'];
const ON_PAPER = [...CALL, 'layout', 'language'];
const ON_ROLL = [...ON_PAPER, 'qr'];
const OF_SEQUENCE = ['minSequence', 'maxSequence', 'expireAt', 'isActive', 'users', 'agentId'];
const OF_LEASE = ['epoch', 'nonce', 'certificate'];
const INVOICE = ['format', 'xml', 'payload', ...RECEIPT.slice(CALL.length)];
const IN_CATALOGUE = [...CALL, 'q', 'pageSize'];
const OF_VERSION = [...CALL, 'version'];
const OF_EXPENSE = ['kind', 'eNCF', 'isrType', 'payment', 'paidAfter', 'paidOn', 'itbis'];
const OF_CUSTOMER = ['name', 'rnc', 'email', 'phone', 'address', 'municipality', 'province', 'type', 'version'];
const OF_PRICE = ['unit', 'price', 'priceHasItbis', 'itbis', 'additionalTaxes'];
const OF_PRODUCT = ['name', 'code', 'kind', 'version', ...OF_PRICE];
const OF_RECURRING = [
  ...['name', 'day', 'everyMonths', 'startsOn', 'endsOn', 'status', 'customer', 'paymentDays', 'payload'],
  ...['asUser', 'asUserId', 'notify', 'sequence', 'version'],
];
const SIMULATE = ['outcome', 'code', 'seconds', 'now'];

/** A request has so many receipts and bytes at most; the service's own limit of bytes is 1 MiB. */
const BATCH_ITEMS = 500;
/** Ids of one request. */
const DECIDED = 100;
const BATCH_BYTES = 1_000_000;

function content(filter: ReceiptFilter): ReceiptFilter {
  const { tipoEcf, issuedFrom, issuedTo, totalFrom, totalTo, text } = filter;
  return { tipoEcf, issuedFrom, issuedTo, totalFrom, totalTo, text };
}

const FINAL: readonly string[] = ['Aceptado', 'Aceptado Condicional', 'Rechazado', 'error'];
const LONGEST_WAIT = 30;
const ASK_AGAIN = 5;

/**
 * The service, for one API key. Share it: whoever shares it shares its token, and logins are few (5 a minute).
 *
 * ```js
 * const fe = new Fe('https://fe.example.com', 'fak_0123456789ab', '...');
 * console.log((await fe.submitAndWait(receipt, { clientRequestId: 'order-1001' })).status);
 * ```
 */
export class Fe {
  readonly session: Session;

  /** Where the service is and a key of it; nothing is sent yet. A bare host is given the path /api/v1/fe. */
  constructor(baseUrl: string, apiKeyId: string, apiSecret: string, options: Options = {}) {
    this.session = new Session(baseUrl, apiKeyId, apiSecret, options);
  }

  /** Get a new token now. Every other call gets one by itself, and renews it; this tells whether the key is good. */
  login(): Promise<Token> {
    return this.session.login();
  }

  /**
   * Make any call, such as `call('PUT', '/printing', { footer: 'Gracias' })`. Returns the answer as it is.
   *
   * A GET is repeated where that may help, anything else only where nothing was sent: a method of its own knows better.
   */
  call(method: string, path: string, body?: unknown, { signal }: CallOptions = {}): Promise<any> {
    return this.session.call(method, path, { body, signal, repeatable: method === 'GET' });
  }

  /**
   * Submit a receipt. It is taken in, once, however often the answer is lost; its verdict comes later.
   *
   * Throws InvalidError with `problems`, ReusedIdError, and what every call may throw.
   */
  async submit(document: Document, options: Receipt = {}): Promise<AcceptedSubmission | Deduped> {
    known('submit', options, RECEIPT);
    const { signal, strict = this.session.strict } = options;
    const clientRequestId = options.clientRequestId ?? (await newId());
    const { notify, metadata } = options;
    const body = { ...handedIn(document, options), clientRequestId, strict, notify, metadata };
    const asked = { body, signal, clientRequestId };
    const taken = await this.session.call<AcceptedSubmission | Deduped>('POST', '/invoices', asked);
    if ('deduped' in taken && !taken.bodyMatched) {
      const reused = new ReusedIdError(taken);
      reused.clientRequestId = clientRequestId;
      throw reused;
    }
    return taken;
  }

  /**
   * Submit a receipt as `submit` does, and wait for its verdict: `status` says what it was, `Rechazado` included.
   *
   * `until: 'signed'` waits for the signature alone: then it can be printed. Throws NoVerdictYetError after `timeout`
   * seconds (180). Then it is still on its way: go on with `wait`, or call this
   * again with the same `clientRequestId`.
   */
  async submitAndWait(document: Document, options: Receipt & Patience = {}): Promise<Submission> {
    known('submitAndWait', options, [...RECEIPT, 'timeout', 'until']);
    const { timeout = 180, until, ...receipt } = options;
    const { signal } = receipt;
    const clientRequestId = receipt.clientRequestId ?? (await newId());
    const ends = this.session.clock() + timeout;
    const { taxLogId } = await this.submit(document, { ...receipt, clientRequestId });
    try {
      return await this.wait(taxLogId, { timeout: ends - this.session.clock(), until, signal });
    } catch (error) {
      if (error instanceof FeError) error.clientRequestId = clientRequestId;
      throw error;
    }
  }

  /**
   * Wait until a submission has its verdict, or can be printed (`until: 'signed'`). Troubles on the way are borne until
   * `timeout` (180 seconds).
   *
   * Throws NotThereError where nothing of yours has that id, NoVerdictYetError after `timeout` seconds, or the trouble
   * that lasted until then.
   */
  async wait(trackOrId: string, options: CallOptions & Patience = {}): Promise<Submission> {
    known('wait', options, [...CALL, 'timeout', 'until']);
    const { timeout = 180, until = 'verdict', signal } = options;
    if (until !== 'verdict' && until !== 'signed') throw new TypeError(`until must be verdict or signed, and not ${until}`);
    const { clock, sleep } = this.session;
    const ends = clock() + timeout;
    for (;;) {
      const began = clock();
      const asked = Math.max(0, Math.min(LONGEST_WAIT, Math.trunc(ends - began)));
      let trouble: FeError;
      let again: number | undefined;
      try {
        const isSigned = until === 'signed';
        const more = { query: { wait: asked, until: isSigned ? until : undefined }, wait: asked, signal };
        const answer = await this.session.exchange<Submission | { found: false }>('GET', one(trackOrId), more);
        const submission = found<Submission>(answer.body);
        if (submission === undefined) throw new NotThereError(200, `nothing of yours has the id ${trackOrId}`);
        if (FINAL.includes(submission.status) || (isSigned && submission.readyToPrint)) return submission;
        trouble = new NoVerdictYetError(submission);
        again = retryAfterOf(answer.headers);
      } catch (error) {
        if (!isPassing(error)) throw error;
        trouble = error;
        again = error instanceof ApiError ? error.retryAfter : undefined;
      }
      const left = ends - clock();
      if (left <= 0) throw trouble;
      // Whoever was answered only after the whole wait asks again at once; who was turned away sooner, when told to.
      if (trouble instanceof NoVerdictYetError && asked > 0 && clock() - began >= asked) continue;
      await sleep(Math.min(left, again ?? ASK_AGAIN), signal);
    }
  }

  /**
   * Ask how it stands with a submission; undefined: nothing of yours has that id. With `wait` the service answers as
   * soon as there is a verdict, at the latest after that many seconds (30 at most).
   */
  status(trackOrId: string, options: CallOptions & { wait?: number } = {}): Promise<Submission | undefined> {
    known('status', options, [...CALL, 'wait']);
    const { wait = 0, signal } = options;
    return this.session.find('GET', one(trackOrId), { query: { wait: wait || undefined }, wait, signal });
  }

  /** Fetch the document of a submission: once signed, the legal proof. undefined: nothing of yours has that id. */
  xml(trackOrId: string, options: CallOptions = {}): Promise<SubmissionXml | undefined> {
    return this.session.find('GET', `${one(trackOrId)}/xml`, options);
  }

  /**
   * Print a receipt as PDF, as your settings say where the call does not. Throws NotThereError, and ConflictError while
   * it is not signed.
   */
  pdf(trackOrId: string, options: OnPaper = {}): Promise<Uint8Array> {
    return this.#pdf('pdf', one(trackOrId), options);
  }

  /**
   * Print many receipts, of these ids or as `invoices` chooses them: a ZIP of each one's PDF and XML, and a manifest. At
   * most 1,000. Throws NotThereError where an id is none of yours, or nothing is chosen.
   */
  pdfs(ids: readonly string[] | undefined, options: ManyOnPaper = {}): Promise<Uint8Array> {
    known('pdfs', options, [...ON_PAPER, ...CONTENT, 'to', 'since', 'until', 'state', 'encf', 'clientRequestId', 'rnc']);
    return this.#zip('/invoices/pdf', ids, options);
  }

  /** Print a receipt as bytes for a receipt printer (ESC/POS). Throws as `pdf` does. */
  ticket(trackOrId: string, options: OnRoll = {}): Promise<Uint8Array> {
    return this.#ticket('ticket', one(trackOrId), options);
  }

  /** Draw a receipt's QR code as PNG. Throws as `pdf` does. */
  qrPng(trackOrId: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.session.fetch(`${one(trackOrId)}/qr.png`, 'image/png', options);
  }

  /** Draw a receipt's QR code as SVG. Throws as `pdf` does. */
  qrSvg(trackOrId: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.session.fetch(`${one(trackOrId)}/qr.svg`, 'image/svg+xml', options);
  }

  /** Read every event of a submission, oldest first. undefined: nothing of yours has that id. */
  timeline(trackOrId: string, options: CallOptions = {}): Promise<Timeline | undefined> {
    return this.session.find('GET', `${one(trackOrId)}/timeline`, options);
  }

  /**
   * Share an accepted receipt with its buyer: `url` leads to its page. A repeat gives the same link.
   *
   * Throws NotThereError, and ConflictError where it is not accepted, or no page is served.
   */
  share(trackOrId: string, options: CallOptions = {}): Promise<SharedAnswer> {
    return this.session.call('POST', `${one(trackOrId)}/share`, options);
  }

  /** End every link to a receipt. Throws NotThereError. */
  revokeShare(trackOrId: string, options: CallOptions = {}): Promise<RevokedAnswer> {
    return this.session.call('DELETE', `${one(trackOrId)}/share`, options);
  }

  /** List everything that is wrong with a receipt, without submitting it. */
  validate(document: Document, options: Checked = {}): Promise<Validation> {
    known('validate', options, CHECKED);
    return this.session.call('POST', '/invoices/validate', {
      body: handedIn(document, options),
      signal: options.signal,
    });
  }

  /** Show a receipt as it would be signed now: number, totals, defaults and problems. No number is drawn. */
  preview(document: Document, options: Checked = {}): Promise<InvoicePreview> {
    known('preview', options, CHECKED);
    return this.session.call('POST', '/invoices/preview', {
      body: handedIn(document, options),
      signal: options.signal,
    });
  }

  /**
   * Submit many receipts; of each, in their order, what `submit` alone would have been answered.
   *
   * Each has `format` and `payload` or `xml`, and best a `clientRequestId` of yours; those without get one, so that a
   * lost answer issues nothing twice. More than 500, or more than fit one request, go in several requests, one after the
   * other; an error then carries as `items` what became of those before it.
   */
  async batch(items: Iterable<NewInvoice>, options: Batch = {}): Promise<BatchItem[]> {
    known('batch', options, [...CALL, 'strict']);
    const { signal, strict = this.session.strict } = options;
    const given: NewInvoice[] = [];
    for (const item of items) {
      known('batch', item, INVOICE);
      known('simulate', item.simulate ?? {}, SIMULATE);
      given.push({ ...item, clientRequestId: item.clientRequestId ?? (await newId()) });
    }
    const answered: BatchItem[] = [];
    for (const part of parts(given)) {
      const asked = { body: { items: part, strict }, signal };
      try {
        answered.push(...(await this.session.call<{ items: BatchItem[] }>('POST', '/invoices/batch', asked)).items);
      } catch (error) {
        if (error instanceof FeError) error.items = answered;
        throw error;
      }
    }
    return answered;
  }

  /**
   * Go through your submissions, newest first, fetching as it goes.
   *
   * `since` and `until` are dates (their start and end in UTC) or timestamps of submission; `rnc` is the buyer's.
   */
  invoices(
    filter: Listed &
      ReceiptFilter & {
        state?: string;
        encf?: string;
        clientRequestId?: string;
        rnc?: string;
        asUser?: string;
        /** One label of yours with its value; it needs a period of at most 93 days. */
        metadata?: Record<string, string>;
        /** The fate of its number; it needs such a period, too. */
        numberFate?: string;
      } = {},
  ): AsyncGenerator<SubmissionItem, void> {
    const names = ['state', 'encf', 'clientRequestId', 'rnc', 'asUser', 'metadata', 'numberFate'];
    known('invoices', filter, [...LISTED, ...CONTENT, ...names]);
    const { state, encf, clientRequestId, rnc, asUser, numberFate, metadata = {} } = filter;
    const labels = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`metadata[${name}]`, value]));
    const asked = { state, encf, clientRequestId, rnc, asUser, numberFate, ...labels, ...content(filter) };
    return this.#listed('/invoices', asked, filter);
  }

  /** List the number sequences that are configured, and the types there are. */
  ncf(options: CallOptions = {}): Promise<Sequences> {
    return this.session.call('GET', '/ncf', options);
  }

  /** Create or change the sequence of a prefix. What is left out takes its default, also when it is there already. */
  putNcf(sequence: NewSequence, options: CallOptions = {}): Promise<NumberSequence> {
    known('putNcf', sequence, ['prefix', 'name', ...OF_SEQUENCE]);
    return this.session.call('POST', '/ncf', { body: sequence, ...options });
  }

  /** Change of a sequence only what is named. Throws NotThereError, ConflictError. */
  changeNcf(prefix: string, changes: ChangedSequence, options: OneSequence = {}): Promise<NumberSequence> {
    known('changeNcf', changes, ['currentSequence', ...OF_SEQUENCE]);
    known('changeNcf', options, [...CALL, 'name']);
    const { name, ...call } = options;
    return this.session.call('PATCH', `/ncf/${encodeURIComponent(prefix)}`, { body: changes, query: { name }, ...call });
  }

  /** Delete the sequence of a prefix. Throws NotThereError where there is none. */
  deleteNcf(prefix: string, options: OneSequence = {}): Promise<Deleted> {
    known('deleteNcf', options, [...CALL, 'name']);
    const { name, ...call } = options;
    const asked = { repeatable: false, query: { name }, ...call };
    return this.session.call('DELETE', `/ncf/${encodeURIComponent(prefix)}`, asked);
  }

  /** Go through what suppliers issued to you, newest first; `rnc` is the supplier's. */
  received(
    filter: Listed & ReceiptFilter & { encf?: string; rnc?: string; approvalStatus?: string } = {},
  ): AsyncGenerator<ReceivedItem, void> {
    known('received', filter, [...LISTED, ...CONTENT, 'encf', 'rnc', 'approvalStatus']);
    const { encf, rnc, approvalStatus } = filter;
    return this.#listed('/received', { encf, rnc, approvalStatus, ...content(filter) }, filter);
  }

  /** Show a document that a supplier issued to you. undefined: there is none with that id. */
  receivedDocument(receivedId: string, options: CallOptions = {}): Promise<ReceivedItem | undefined> {
    return this.session.find('GET', oneReceived(receivedId), options);
  }

  /** Fetch it byte for byte, and the acknowledgement given for it. undefined: there is none with that id. */
  receivedXml(receivedId: string, options: CallOptions = {}): Promise<ReceivedXml | undefined> {
    return this.session.find('GET', `${oneReceived(receivedId)}/xml`, options);
  }

  /** Print many received documents, of these ids or as `received` chooses them, as `pdfs` does. */
  receivedPdfs(ids: readonly string[] | undefined, options: ManyReceivedOnPaper = {}): Promise<Uint8Array> {
    known('receivedPdfs', options, [...ON_PAPER, ...CONTENT, 'to', 'since', 'until', 'encf', 'rnc']);
    return this.#zip('/received/pdf', ids, options);
  }

  /** Print a document that a supplier issued to you as PDF. Throws NotThereError. */
  receivedPdf(receivedId: string, options: OnPaper = {}): Promise<Uint8Array> {
    return this.#pdf('receivedPdf', oneReceived(receivedId), options);
  }

  /** Print it as bytes for a receipt printer (ESC/POS), as `ticket` does. Throws NotThereError. */
  receivedTicket(receivedId: string, options: OnRoll = {}): Promise<Uint8Array> {
    return this.#ticket('receivedTicket', oneReceived(receivedId), options);
  }

  /** Draw its QR code as PNG. Throws NotThereError. */
  receivedQrPng(receivedId: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.session.fetch(`${oneReceived(receivedId)}/qr.png`, 'image/png', options);
  }

  /** Draw its QR code as SVG. Throws NotThereError. */
  receivedQrSvg(receivedId: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.session.fetch(`${oneReceived(receivedId)}/qr.svg`, 'image/svg+xml', options);
  }

  /** Approve a received document. Throws NotThereError, and ConflictError where the contrary was said before. */
  approve(receivedId: string, options: Decision = {}): Promise<ApprovalTaken> {
    return this.#decide(receivedId, 'approve', {}, options);
  }

  /** Reject a received document, for a reason that its issuer and the authority read. Throws as `approve` does. */
  reject(receivedId: string, reason: string, options: Decision = {}): Promise<ApprovalTaken> {
    return this.#decide(receivedId, 'reject', { reason }, options);
  }

  /**
   * Approve or reject many received documents, 100 in a request; a rejection has a reason. Repeating it is safe. Each
   * is decided by itself: `statusCode` says what became of it, as `approve` and `reject` would. An error carries the
   * results of the requests before it as `items`.
   */
  async decide(
    decision: 'approved' | 'rejected',
    ids: readonly string[],
    options: ManyDecided = {},
  ): Promise<DecidedItem[]> {
    known('decide', options, [...BY_USER, 'reason']);
    const { reason, asUser, asUserId, signal } = options;
    const answered: DecidedItem[] = [];
    for (let first = 0; first < ids.length; first += DECIDED) {
      const body = { decision, ids: ids.slice(first, first + DECIDED), reason, asUser, asUserId };
      const asked = { body, signal };
      try {
        answered.push(...(await this.session.call<{ items: DecidedItem[] }>('POST', '/received/approvals', asked)).items);
      } catch (error) {
        if (error instanceof FeError) error.items = answered;
        throw error;
      }
    }
    return answered;
  }

  /** Show how your receipts are printed where a call says nothing else. */
  printing(options: CallOptions = {}): Promise<PrintSettingsAnswer> {
    return this.session.call('GET', '/printing', options);
  }

  /** Set how your receipts are printed; `logo` is base64. Members left out take defaults. Throws InvalidError. */
  setPrinting(settings: PrintSettingsRequest, options: CallOptions = {}): Promise<PrintSettingsAnswer> {
    known('setPrinting', settings, ['logo', 'accent', 'footer', 'marks', 'language', 'layout']);
    return this.session.call('PUT', '/printing', { body: settings, ...options });
  }

  /** Show whether the authority answers, as the service measured it. */
  authority(options: CallOptions = {}): Promise<AuthorityHealth> {
    return this.session.call('GET', '/authority', options);
  }

  /** Show how the service itself is, now and on the last 90 days, as it measured itself. */
  serviceStatus(options: CallOptions = {}): Promise<StatusAnswer> {
    return this.session.call('GET', '/status', options);
  }

  /** Show how you issue now: normally, or in which contingency. */
  mode(options: CallOptions = {}): Promise<ModeAnswer> {
    return this.session.call('GET', '/contingency', options);
  }

  /** Say that your own line is down (`offline`) or back (`normal`). Throws InvalidError, ConflictError. */
  setMode(mode: 'normal' | 'offline', reason: string, options: CallOptions = {}): Promise<ModeAnswer> {
    return this.session.call('POST', '/contingency', { body: { mode, reason }, ...options });
  }

  /** Have the simulated supplier of a sandbox send you a receipt. Throws ConflictError where there is none. */
  sandboxReceipt(eNCF?: string, options: CallOptions = {}): Promise<SandboxReceipt> {
    return this.session.call('POST', '/sandbox/receipts', { body: { eNCF }, repeatable: false, ...options });
  }

  /** Have the simulated buyer of a sandbox approve a receipt of yours, or reject it for a `reason`. */
  sandboxApproval(
    taxLogId: string,
    decision: 'approved' | 'rejected',
    reason?: string,
    options: CallOptions = {},
  ): Promise<SandboxApproval> {
    return this.session.call('POST', '/sandbox/approvals', { body: { taxLogId, decision, reason }, ...options });
  }

  /** Have the authority of a sandbox be away for your company, up to 600 seconds from now; 0 ends it. */
  sandboxOutage(seconds: number, options: CallOptions = {}): Promise<SandboxOutage> {
    return this.session.call('POST', '/sandbox/outages', { body: { seconds }, ...options });
  }

  /** List the ranges of series B. */
  paperRanges(options: CallOptions = {}): Promise<PaperRangesAnswer> {
    return this.session.call('GET', '/paper-ranges', options);
  }

  /** Record a range of series B, both ends included. Throws InvalidError, ConflictError. */
  addPaperRange(first: string, last: string, expiresOn: string, options: CallOptions = {}): Promise<PaperRangeAnswer> {
    return this.session.call('POST', '/paper-ranges', { body: { first, last, expiresOn }, ...options });
  }

  /** Delete a range without receipts. Throws NotFoundError, ConflictError. */
  deletePaperRange(rangeId: string, options: CallOptions = {}): Promise<PaperRangeDeleted> {
    return this.session.call('DELETE', `/paper-ranges/${encodeURIComponent(rangeId)}`, options);
  }

  /** List paper receipts by number, a page from `cursor` on; `onlyOpen`: those without an accepted e-CF. */
  paperReceipts(
    { onlyOpen = false, cursor }: { onlyOpen?: boolean; cursor?: string } = {},
    options: CallOptions = {},
  ): Promise<PaperReceiptsAnswer> {
    const query = { state: onlyOpen ? 'open' : undefined, cursor };
    return this.session.call('GET', '/paper-receipts', { query, ...options });
  }

  /** Enter up to 100 receipts that were issued on paper; the answer has the result of each. */
  enterPaperReceipts(receipts: PaperReceiptRequest[], options: CallOptions = {}): Promise<PaperEnteredAnswer> {
    return this.session.call('POST', '/paper-receipts', { body: { receipts }, ...options });
  }

  /** Show a paper receipt. Throws NotFoundError. */
  paperReceipt(ncf: string, options: CallOptions = {}): Promise<PaperReceiptAnswer> {
    return this.session.call('GET', `/paper-receipts/${encodeURIComponent(ncf)}`, options);
  }

  /** Correct a paper receipt that has no e-CF. Throws InvalidError, NotFoundError, ConflictError. */
  correctPaperReceipt(ncf: string, content: PaperContent, options: CallOptions = {}): Promise<PaperReceiptAnswer> {
    return this.session.call('PUT', `/paper-receipts/${encodeURIComponent(ncf)}`, { body: content, ...options });
  }

  /** Issue the e-CF of paper receipts: of those named, or of the first hundred that are open. It may be repeated. */
  replacePaperReceipts(ncfs?: string[], options: CallOptions = {}): Promise<ReplacementsAnswer> {
    return this.session.call('POST', '/paper-receipts/replacements', { body: { ncfs }, ...options });
  }

  /** List the numbers that can be voided, of one type (`E31`) or of all. */
  voidable(prefix?: string, options: CallOptions = {}): Promise<ProposalsAnswer> {
    return this.session.call('GET', '/voidings/proposals', { query: { prefix }, ...options });
  }

  /**
   * Void numbers for good that were never sent nor handed over; `reason` is the kind of the 608, 1 to 8. With the same
   * `clientRequestId` it is requested once; default: a new one. Throws InvalidError, ConflictError.
   */
  async voidNumbers(request: VoidingRequest, options: CallOptions = {}): Promise<VoidingAnswer> {
    known('voidNumbers', request, ['ranges', 'reason', 'clientRequestId']);
    const body = { clientRequestId: await newId(), ...request };
    return this.session.call('POST', '/voidings', { body, ...options });
  }

  /** List the newest hundred voidings. */
  voidings(options: CallOptions = {}): Promise<VoidingsAnswer> {
    return this.session.call('GET', '/voidings', options);
  }

  /** Show a voiding. Throws NotThereError. */
  voiding(voidingId: string, options: CallOptions = {}): Promise<VoidingAnswer> {
    return this.session.call('GET', `/voidings/${encodeURIComponent(voidingId)}`, options);
  }

  /** Fetch the signed ANECF of a voiding. Throws NotThereError, ConflictError. */
  voidingXml(voidingId: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.session.fetch(`/voidings/${encodeURIComponent(voidingId)}/xml`, 'application/xml', options);
  }

  /** Write the 608 of a month such as `2026-11`: `content`. Throws ConflictError. */
  month608(month: string, options: CallOptions = {}): Promise<VoidedAnswer> {
    return this.session.call('GET', `/months/${encodeURIComponent(month)}/608`, options);
  }

  /** Sum up a month such as `2026-11`, by the days of issue in Santo Domingo. */
  month(month: string, options: CallOptions = {}): Promise<MonthAnswer> {
    return this.session.call('GET', `/months/${encodeURIComponent(month)}`, options);
  }

  /** Fetch a month as a workbook (.xlsx): totals, receipts issued and received, numbers. */
  monthWorkbook(month: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.session.fetch(`/months/${encodeURIComponent(month)}/xlsx`, XLSX, options);
  }

  /**
   * Fetch PDF and XML of all receipts of a month in a ZIP, issued and received; `to` as in `pdfs`. Throws NotThereError
   * where there is none, and InvalidError where there are more than 5,000.
   */
  monthArchive(month: string, options: OnPaper & Pick<Archive, 'to'> = {}): Promise<Uint8Array> {
    known('monthArchive', options, [...ON_PAPER, 'to']);
    const { signal, to, ...query } = options;
    const asked = { query: { ...query }, wait: 600, signal, to };
    return this.session.fetch(`/months/${encodeURIComponent(month)}/zip`, 'application/zip', asked);
  }

  /** List the packages of your archive, newest first, a page from `cursor` on. */
  archivePackages({ cursor }: { cursor?: number } = {}, options: CallOptions = {}): Promise<ArchiveList> {
    return this.session.call('GET', '/archive', { query: { cursor }, ...options });
  }

  /** Fetch an archive package, a ZIP; `to` as in `pdfs`. Throws NotFoundError. */
  archivePackage(number: number, options: CallOptions & Pick<Archive, 'to'> = {}): Promise<Uint8Array> {
    known('archivePackage', options, ['to', 'signal']);
    return this.session.fetch(`/archive/${number}/zip`, 'application/zip', { wait: 600, ...options });
  }

  /** Fetch the time stamp of an archive package, an RFC 3161 token. Throws NotFoundError. */
  archiveTimeStamp(number: number, options: CallOptions = {}): Promise<Uint8Array> {
    return this.session.fetch(`/archive/${number}/tst`, 'application/octet-stream', { ...options });
  }

  /** Write the 606 of a month: `content`, or null beside the list of what it lacks. */
  month606(month: string, options: CallOptions = {}): Promise<PurchasesAnswer> {
    return this.session.call('GET', `/months/${encodeURIComponent(month)}/606`, options);
  }

  /** Say what the 606 asks about a supplier, once; with `eNCF`, about one of its receipts. */
  classifyPurchases(rnc: string, expense: ExpenseRequest, options: CallOptions = {}): Promise<ExpenseAnswer> {
    known('classifyPurchases', expense, OF_EXPENSE);
    return this.session.call('PUT', `/expenses/${encodeURIComponent(rnc)}`, { body: expense, ...options });
  }

  /**
   * Read the usage of whole UTC days that end yesterday: 30, or as many as said (180 at most).
   * With `today` the answer also has the emissions of today in Santo Domingo, until now.
   */
  usage(options: CallOptions & { days?: number; today?: boolean } = {}): Promise<UsageReport> {
    known('usage', options, [...CALL, 'days', 'today']);
    const query = { days: options.days, today: options.today ? 'true' : undefined };
    return this.session.call('GET', '/usage', { query, signal: options.signal });
  }

  /** Read the running month's bill so far. */
  billing(options: CallOptions = {}): Promise<BillingPeriod> {
    return this.session.call('GET', '/billing/current-period', options);
  }

  /**
   * Upload an .xlsx, .ods or .csv whose rows are receipts, to be validated; the same file again is the same import.
   * Throws InvalidError where it cannot be read.
   */
  importReceipts(content: Uint8Array, name = 'receipts.xlsx', options: CallOptions = {}): Promise<ImportAnswer> {
    return this.session.call('POST', '/imports', { body: { name, content: base64(content) }, ...options });
  }

  /** Ask how far an import is: its counts, and the first faults. Throws NotThereError. */
  importStatus(importId: string, options: CallOptions = {}): Promise<ImportAnswer> {
    return this.session.call('GET', oneImport(importId), options);
  }

  /** Issue the valid receipts of an import, or go on with them. Throws NotThereError, ConflictError. */
  issueImport(importId: string, options: CallOptions = {}): Promise<ImportAnswer> {
    return this.session.call('POST', `${oneImport(importId)}/issue`, options);
  }

  /** Fetch the file back, with errors, state and number in each row. Throws NotThereError. */
  importWorkbook(importId: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.session.fetch(`${oneImport(importId)}/workbook`, 'application/octet-stream', options);
  }

  /** Fetch the template of a type (`E31`), an .xlsx. Throws InvalidError. */
  importTemplate(prefix: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.session.fetch(`/imports/templates/${encodeURIComponent(prefix)}`, XLSX, options);
  }

  /** Show whether accepted receipts are sent to their buyers by mail, and how. */
  mail(options: CallOptions = {}): Promise<MailSettingsAnswer> {
    return this.session.call('GET', '/mail', options);
  }

  /** Set it. With `enabled` false alone, mail is off and the other settings stay. */
  setMail(settings: MailSettingsRequest, options: CallOptions = {}): Promise<MailSettingsAnswer> {
    known('setMail', settings, ['enabled', 'replyTo', 'language', 'documents', 'aDay']);
    return this.session.call('PUT', '/mail', { body: settings, ...options });
  }

  /** Go through your customers by name; `q` has beginnings of words of the name or the RNC. */
  customers(filter: InCatalogue & { rnc?: string } = {}): AsyncGenerator<CustomerItem, void> {
    known('customers', filter, [...IN_CATALOGUE, 'rnc']);
    return this.#listed('/customers', { q: filter.q, rnc: filter.rnc }, filter);
  }

  /** Show a customer. Throws NotThereError. */
  customer(entryId: string, options: CallOptions = {}): Promise<CustomerItem> {
    return this.session.call('GET', `/customers/${encodeURIComponent(entryId)}`, options);
  }

  /** Create or change a customer. Throws ConflictError where it is not at the `version` that was named. */
  putCustomer(entryId: string, entry: CustomerRequest, options: CallOptions = {}): Promise<CustomerItem> {
    known('putCustomer', entry, OF_CUSTOMER);
    return this.session.call('PUT', `/customers/${encodeURIComponent(entryId)}`, { body: entry, ...options });
  }

  /** Delete a customer. Throws NotThereError, and ConflictError where it is at another version. */
  deleteCustomer(entryId: string, options: OfVersion = {}): Promise<EntryDeleted> {
    known('deleteCustomer', options, OF_VERSION);
    return this.#deleted(`/customers/${encodeURIComponent(entryId)}`, options);
  }

  /** Look an RNC or cédula up in the authority's register. Throws NotThereError. */
  taxpayer(rnc: string, options: CallOptions = {}): Promise<TaxpayerAnswer> {
    return this.session.call('GET', `/rnc/${encodeURIComponent(rnc)}`, options);
  }

  /** Go through your products by name; `q` has beginnings of words of the name or the code. */
  products(filter: InCatalogue & { code?: string } = {}): AsyncGenerator<ProductItem, void> {
    known('products', filter, [...IN_CATALOGUE, 'code']);
    return this.#listed('/products', { q: filter.q, code: filter.code }, filter);
  }

  /** Show a product. Throws NotThereError. */
  product(entryId: string, options: CallOptions = {}): Promise<ProductItem> {
    return this.session.call('GET', `/products/${encodeURIComponent(entryId)}`, options);
  }

  /** Create or change a product. Throws ConflictError where it is not at the `version` that was named. */
  putProduct(entryId: string, entry: ProductRequest, options: CallOptions = {}): Promise<ProductItem> {
    known('putProduct', entry, OF_PRODUCT);
    return this.session.call('PUT', `/products/${encodeURIComponent(entryId)}`, { body: entry, ...options });
  }

  /** Delete a product. Throws NotThereError, and ConflictError where it is at another version. */
  deleteProduct(entryId: string, options: OfVersion = {}): Promise<EntryDeleted> {
    known('deleteProduct', options, OF_VERSION);
    return this.#deleted(`/products/${encodeURIComponent(entryId)}`, options);
  }

  /** Go through your recurring receipts by id. */
  recurring(options: CallOptions & { pageSize?: number } = {}): AsyncGenerator<RecurringSummary, void> {
    known('recurring', options, [...CALL, 'pageSize']);
    return this.#listed('/recurring', {}, options);
  }

  /** Give an agent at a till its next lease. Throws ConflictError where a copy of it took one since. */
  leaseAgent(agentId: string, lease: LeaseRequest, options: CallOptions = {}): Promise<Lease> {
    known('leaseAgent', lease, OF_LEASE);
    return this.session.call('PUT', `/agents/${encodeURIComponent(agentId)}`, { body: lease, ...options });
  }

  /** Show a recurring receipt with its turns. Throws NotThereError. */
  recurringReceipt(recurringId: string, options: CallOptions = {}): Promise<RecurringAnswer> {
    return this.session.call('GET', `/recurring/${encodeURIComponent(recurringId)}`, options);
  }

  /** Create or change a receipt that is issued every month. Throws ConflictError where it is at another `version`. */
  putRecurring(recurringId: string, recurring: RecurringRequest, options: CallOptions = {}): Promise<RecurringAnswer> {
    known('putRecurring', recurring, OF_RECURRING);
    return this.session.call('PUT', `/recurring/${encodeURIComponent(recurringId)}`, { body: recurring, ...options });
  }

  /** Delete a recurring receipt. Throws NotThereError, and ConflictError where it is at another version. */
  deleteRecurring(recurringId: string, options: OfVersion = {}): Promise<RecurringDeleted> {
    known('deleteRecurring', options, OF_VERSION);
    return this.#deleted(`/recurring/${encodeURIComponent(recurringId)}`, options);
  }

  /** Issue the turn of a month (YYYY-MM) that was not issued, or skip one. Throws NotThereError, ConflictError. */
  decideRecurringTurn(
    recurringId: string,
    month: string,
    action: 'issue' | 'skip',
    options: CallOptions = {},
  ): Promise<RecurringAnswer> {
    const path = `/recurring/${encodeURIComponent(recurringId)}/turns/${encodeURIComponent(month)}`;
    return this.session.call('POST', path, { body: { action }, repeatable: false, ...options });
  }

  /** Get the webhook endpoint. */
  webhooks(options: CallOptions = {}): Promise<Webhooks> {
    return this.session.call('GET', '/webhooks', options);
  }

  /** Set the webhook endpoint. The first answer has the `secret`, shown only then; `rotateWebhook` makes another. */
  setWebhook(webhook: WebhookRequest, options: CallOptions = {}): Promise<Webhook> {
    known('setWebhook', webhook, ['url', 'enabled', 'events', 'headers']);
    return this.session.call('PUT', '/webhooks', { body: webhook, ...options });
  }

  /** List every webhook endpoint of the environment, the one named `default` included. */
  async webhookEndpoints(options: CallOptions = {}): Promise<Webhook[]> {
    return (await this.session.call<Webhooks>('GET', '/webhooks/endpoints', options)).items;
  }

  /** Set one of several endpoints, by its name. The first answer has its `secret`, as that of `setWebhook`. */
  setWebhookEndpoint(name: string, webhook: WebhookRequest, options: CallOptions = {}): Promise<Webhook> {
    known('setWebhookEndpoint', webhook, ['url', 'enabled', 'events', 'headers']);
    return this.session.call('PUT', endpointOf(name), { body: webhook, ...options });
  }

  /** Delete an endpoint: what it was not delivered ends as failed. Throws NotThereError. */
  deleteWebhookEndpoint(name: string, options: CallOptions = {}): Promise<WebhookDeleted> {
    return this.session.call('DELETE', endpointOf(name), options);
  }

  /** Rotate the signing secret; for a day the old one signs beside it. */
  rotateWebhook(options: OfEndpoint = {}): Promise<Webhook> {
    known('rotateWebhook', options, [...CALL, 'endpoint']);
    const { endpoint, ...call } = options;
    return this.session.call('POST', `${endpointOf(endpoint)}/rotate`, { repeatable: false, ...call });
  }

  /** Have a test event sent to you. */
  testWebhook(options: OfEndpoint = {}): Promise<DeliveryAgain> {
    known('testWebhook', options, [...CALL, 'endpoint']);
    const { endpoint, ...call } = options;
    return this.session.call('POST', `${endpointOf(endpoint)}/test`, { repeatable: false, ...call });
  }

  /** Go through the calls of your webhooks, newest first; `about` is a received document's id or a taxLogId. */
  deliveries(
    filter: Listed & { state?: string; event?: string; about?: string; endpoint?: string } = {},
  ): AsyncGenerator<Delivery, void> {
    known('deliveries', filter, [...LISTED, 'state', 'event', 'about', 'endpoint']);
    const { state, event, about, endpoint } = filter;
    return this.#listed('/webhooks/deliveries', { state, event, about, endpoint }, filter);
  }

  /** Go through your failed requests of the last 30 days, newest first; `status` is 400, "4xx" or "5xx". */
  requests(
    filter: Listed & { key?: string; status?: number | string; requestId?: string } = {},
  ): AsyncGenerator<FailedRequestAnswer, void> {
    known('requests', filter, [...LISTED, 'key', 'status', 'requestId']);
    const { key, status, requestId } = filter;
    return this.#listed('/requests', { key, status: status?.toString(), requestId }, filter);
  }

  /** Show a delivery and each of its tries. undefined: there is none with that id. */
  delivery(deliveryId: string, options: CallOptions = {}): Promise<DeliveryDetail | undefined> {
    return this.session.find('GET', `/webhooks/deliveries/${encodeURIComponent(deliveryId)}`, options);
  }

  /**
   * Have a delivery made again, under the same id. Throws NotThereError, and ConflictError while it is under way or its
   * webhook is disabled.
   */
  retryDelivery(deliveryId: string, options: CallOptions = {}): Promise<DeliveryAgain> {
    const path = `/webhooks/deliveries/${encodeURIComponent(deliveryId)}/retry`;
    return this.session.call('POST', path, { repeatable: false, ...options });
  }

  /** Redeliver every failed event since a time. Throws ConflictError while another is at it. */
  recoverWebhook(since: Moment, options: OfEndpoint = {}): Promise<Recovery> {
    known('recoverWebhook', options, [...CALL, 'endpoint']);
    const { endpoint, ...call } = options;
    const body = { since: moment(since), endpoint };
    return this.session.call('POST', '/webhooks/recover', { body, repeatable: false, ...call });
  }

  /** List the latest recoveries, newest first. */
  async webhookRecoveries(options: CallOptions = {}): Promise<Recovery[]> {
    return (await this.session.call<{ items: Recovery[] }>('GET', '/webhooks/recoveries', options)).items;
  }

  #pdf(call: string, path: string, options: OnPaper): Promise<Uint8Array> {
    known(call, options, ON_PAPER);
    const { layout, language, signal } = options;
    return this.session.fetch(`${path}/pdf`, 'application/pdf', { query: { layout, language }, signal });
  }

  #zip(path: string, ids: readonly string[] | undefined, options: ManyOnPaper & ManyReceivedOnPaper): Promise<Uint8Array> {
    const { since, until, signal, to, ...query } = options;
    return this.session.fetch(path, 'application/zip', {
      query: { from: moment(since), to: moment(until), ...query },
      body: ids === undefined ? undefined : { ids },
      wait: 600,
      method: 'POST',
      signal,
      to,
    });
  }

  #ticket(call: string, path: string, options: OnRoll): Promise<Uint8Array> {
    known(call, options, ON_ROLL);
    const { layout, language, qr, signal } = options;
    const asked = { query: { layout, language, qr }, signal };
    return this.session.fetch(`${path}/ticket`, 'application/octet-stream', asked);
  }

  async #decide(receivedId: string, decision: string, said: object, options: Decision): Promise<ApprovalTaken> {
    known(decision, options, DECISION);
    const { asUser, asUserId, signal } = options;
    const clientRequestId = options.clientRequestId ?? (await newId());
    const body = { ...said, clientRequestId, asUser, asUserId };
    const path = `${oneReceived(receivedId)}/${decision}`;
    return this.session.call('POST', path, { body, signal, clientRequestId });
  }

  #deleted(path: string, { version, signal }: OfVersion): Promise<EntryDeleted> {
    return this.session.call('DELETE', path, { query: { version }, repeatable: false, signal });
  }

  async *#listed<T>(
    path: string,
    wanted: Record<string, string | undefined>,
    { since, until, pageSize = 200, signal }: Listed,
  ): AsyncGenerator<T, void> {
    const query = { ...wanted, from: moment(since), to: moment(until), limit: pageSize };
    let cursor: string | undefined;
    do {
      const asked = { query: { ...query, cursor }, signal };
      const page = await this.session.call<{ items: T[]; nextCursor: string | null }>('GET', path, asked);
      yield* page.items;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}

/** Whether waiting a little may help. */
function isPassing(error: unknown): error is FeError {
  return (
    error instanceof ServerAwayError ||
    error instanceof AnswerLostError ||
    error instanceof ThrottledError ||
    error instanceof UnavailableError
  );
}

/** Cut a batch into requests by count and bytes. One receipt alone may be as large as it is. */
function* parts(items: readonly NewInvoice[]): Generator<NewInvoice[]> {
  let part: NewInvoice[] = [];
  let size = 0;
  for (const item of items) {
    const length = new TextEncoder().encode(JSON.stringify(item)).length + 1;
    if (part.length > 0 && (part.length === BATCH_ITEMS || size + length > BATCH_BYTES)) {
      yield part;
      part = [];
      size = 0;
    }
    part.push(item);
    size += length;
  }
  if (part.length > 0) yield part;
}

function handedIn(document: Document, { asUser, asUserId, simulate, sequence }: Checked): object {
  known('simulate', simulate ?? {}, SIMULATE);
  const form = typeof document === 'string' ? { format: 'xml', xml: document } : { format: 'structured', payload: document };
  return { ...form, asUser, asUserId, simulate, sequence };
}

function one(trackOrId: string): string {
  return `/invoices/${encodeURIComponent(trackOrId)}`;
}

function endpointOf(name: string | undefined): string {
  return name === undefined ? '/webhooks' : `/webhooks/endpoints/${encodeURIComponent(name)}`;
}

function oneImport(importId: string): string {
  return `/imports/${encodeURIComponent(importId)}`;
}

/** Bytes as base64; in parts, as a call takes so many arguments and no more. */
function base64(content: Uint8Array): string {
  let text = '';
  for (let start = 0; start < content.length; start += 8192) {
    text += String.fromCharCode(...content.subarray(start, start + 8192));
  }
  return btoa(text);
}

function oneReceived(receivedId: string): string {
  return `/received/${encodeURIComponent(receivedId)}`;
}

function moment(value: Moment): string;
function moment(value: Moment | undefined): string | undefined;
function moment(value: Moment | undefined): string | undefined {
  return value instanceof Date ? value.toISOString() : value;
}
