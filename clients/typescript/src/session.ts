/** One client's standing with the service: its token, and how it calls, and calls again. */

import type { Token } from './core.js';
import {
  AnswerLostError,
  ApiError,
  BrokenAnswerError,
  FeError,
  refusal,
  ServerAwayError,
  ThrottledError,
  TimedOutError,
  UnavailableError,
  WrongCredentialsError,
} from './errors.js';

const PREFIX = '/api/v1/fe';
const EXCERPT = 200;
/** Type of all answers but prints. */
const JSON_TYPE = 'application/json';
/** Seconds before its end at which a token is renewed. */
const RENEWED_BEFORE = 60;

/**
 * How often a call is tried in all, and how long to pause between.
 *
 * A call whose answer was lost, or was 408, 429 or 5xx, is tried again only if doing it twice does what doing it once
 * does. A call that found nobody to connect to is tried again in any case: nothing was sent.
 */
export interface Retries {
  /** 5. */
  tries?: number;
  /** Seconds before the second try, 0.5. Each pause is twice the one before, less up to a quarter by chance. */
  firstPause?: number;
  /** Pauses get no longer than this, 60. Where the service asks for more, the error is raised at once. */
  longestPause?: number;
}

/** How a client is to behave; each has a usual value. */
export interface Options {
  /** Seconds after which a call has failed: 30. */
  timeout?: number;
  retries?: Retries;
  /** What messages come in: `es` or `en`, which is usual. */
  language?: string;
  /**
   * Whether the service refuses at once a receipt that would not be sent, with every problem: true. Else it takes it in,
   * and it ends as `error`. A call may say otherwise.
   */
  strict?: boolean;
  fetch?: typeof globalThis.fetch;
  /** Wait so many seconds; for tests. */
  sleep?: (seconds: number, signal?: AbortSignal) => Promise<unknown>;
  /** Seconds that only go forward; for tests. */
  clock?: () => number;
  /** A number from 0 to 1 that spreads pauses; for tests. */
  chance?: () => number;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call. One that hands something in may have reached the service: repeat it with the same clientRequestId. */
  signal?: AbortSignal | undefined;
}

export interface Asked extends CallOptions {
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: unknown;
  /** Whether doing it twice does what doing it once does: so it is, unless said otherwise. */
  repeatable?: boolean;
  /** How much longer than usual the answer may take, in seconds. */
  wait?: number;
  /** What errors are to carry. */
  clientRequestId?: string;
  /** Type of the answer; of all but JSON its bytes are returned. */
  mediaType?: string;
  /** Takes a good answer of this type as it arrives; what it took is not asked for again. */
  to?: WritableStream<Uint8Array> | undefined;
}

export interface Answer<T> {
  body: T;
  headers: Headers;
}

/** Codes of Node's errors that say that no connection was made. Browsers do not tell: there it may have been. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export class Session {
  /** Seconds after which a call has failed. */
  timeout: number;
  /** Whether receipts are handed in strictly where a call does not say it. */
  readonly strict: boolean;
  readonly clock: () => number;
  readonly sleep: (seconds: number, signal?: AbortSignal) => Promise<unknown>;
  readonly #base: string;
  readonly #credentials: string;
  readonly #retries: Required<Retries>;
  readonly #language: string | undefined;
  readonly #fetch: typeof globalThis.fetch;
  readonly #chance: () => number;
  #token: Token | undefined;
  #renewAt = 0;
  #loggingIn: Promise<Token> | undefined;

  constructor(baseUrl: string, apiKeyId: string, apiSecret: string, options: Options = {}) {
    known('Fe', options, ['timeout', 'retries', 'language', 'strict', 'fetch', 'sleep', 'clock', 'chance']);
    if (!baseUrl) throw new TypeError('Fe: the base URL is missing, such as https://fe.example.com');
    known('retries', options.retries ?? {}, ['tries', 'firstPause', 'longestPause']);
    const bare = new URL(baseUrl).pathname === '/';
    this.#base = baseUrl.replace(/\/+$/, '') + (bare ? PREFIX : '');
    this.#credentials = JSON.stringify({ apiKeyId, apiSecret });
    this.timeout = options.timeout ?? 30;
    this.strict = options.strict ?? true;
    this.#retries = { tries: 5, firstPause: 0.5, longestPause: 60, ...options.retries };
    this.#language = options.language;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.sleep = options.sleep ?? sleep;
    this.clock = options.clock ?? (() => performance.now() / 1000);
    this.#chance = options.chance ?? Math.random;
  }

  /** Call with a token, which is renewed where it is over; again where that is safe. */
  async call<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
    return (await this.exchange<T>(method, path, asked)).body;
  }

  /** As `call`; undefined where the service has nothing of that id. */
  async find<T extends object>(method: string, path: string, asked: Asked = {}): Promise<T | undefined> {
    return found(await this.call<T | { found: false }>(method, path, asked));
  }

  /** Get bytes of this type, a print. Throws NotThereError, and ConflictError while there is nothing to print. */
  fetch(path: string, mediaType: string, asked: Asked & { method?: string } = {}): Promise<Uint8Array> {
    return this.call(asked.method ?? 'GET', path, { ...asked, mediaType });
  }

  /** As `call`, with the answer's headers. */
  async exchange<T>(method: string, path: string, asked: Asked = {}): Promise<Answer<T>> {
    // Once: every try sends the same text.
    const content = asked.body === undefined ? undefined : JSON.stringify(asked.body);
    const url = this.#base + path + queryOf(asked.query);
    let refused: string | undefined;
    for (let tried = 1; ; ) {
      const token = await this.#usableToken(refused);
      try {
        return await this.#send<T>(method, url, content, token, asked.wait ?? 0, asked.signal, asked.mediaType, asked.to);
      } catch (error) {
        if (!(error instanceof FeError)) throw error;
        error.clientRequestId = asked.clientRequestId;
        if (error instanceof WrongCredentialsError) {
          // Over before we thought so, or revoked: a new one tells.
          if (refused !== undefined) throw error;
          refused = token;
          continue;
        }
        const again = (asked.repeatable ?? true) && !(asked.to !== undefined && error instanceof AnswerLostError);
        const pause = this.#pause(error, tried++, again);
        if (pause === undefined) throw error;
        await this.sleep(pause, asked.signal);
      }
    }
  }

  /** Get a new token, whatever there is; logging in is done once, however many calls are waiting for it. */
  login(): Promise<Token> {
    this.#loggingIn ??= this.#logIn().finally(() => {
      this.#loggingIn = undefined;
    });
    return this.#loggingIn;
  }

  async #usableToken(refused: string | undefined): Promise<string> {
    const token = this.#token;
    const usable = token !== undefined && token.accessToken !== refused && this.clock() < this.#renewAt;
    return (usable ? token : await this.login()).accessToken;
  }

  async #logIn(): Promise<Token> {
    for (let tried = 1; ; tried++) {
      const began = this.clock();
      try {
        const { body } = await this.#send<Token>('POST', `${this.#base}/login`, this.#credentials, undefined, 0);
        this.#token = body;
        this.#renewAt = began + body.expiresIn - RENEWED_BEFORE;
        return body;
      } catch (error) {
        const pause = error instanceof FeError ? this.#pause(error, tried, true) : undefined;
        if (pause === undefined) throw error;
        await this.sleep(pause);
      }
    }
  }

  /** Seconds after which to try again; undefined: not at all. */
  #pause(error: FeError, tried: number, repeatable: boolean): number | undefined {
    const { tries, firstPause, longestPause } = this.#retries;
    const again =
      error instanceof ServerAwayError ||
      (repeatable &&
        (error instanceof AnswerLostError || error instanceof ThrottledError || error instanceof UnavailableError));
    if (!again || tried >= tries) return undefined;
    if (error instanceof ApiError && error.retryAfter !== undefined) {
      return error.retryAfter <= longestPause ? error.retryAfter : undefined;
    }
    return Math.min(firstPause * 2 ** (tried - 1), longestPause) * (1 - this.#chance() / 4);
  }

  async #send<T>(
    method: string,
    url: string,
    content: string | undefined,
    token: string | undefined,
    wait: number,
    signal?: AbortSignal,
    mediaType = JSON_TYPE,
    to?: WritableStream<Uint8Array>,
  ): Promise<Answer<T>> {
    signal?.throwIfAborted();
    const headers: Record<string, string> = { Accept: mediaType };
    if (this.#language !== undefined) headers['Accept-Language'] = this.#language;
    if (content !== undefined) headers['Content-Type'] = 'application/json';
    if (token !== undefined) headers['Authorization'] = `Bearer ${token}`;
    const ending = new AbortController();
    let late = false;
    const timer = setTimeout(
      () => {
        late = true;
        ending.abort();
      },
      (this.timeout + wait) * 1000,
    );
    const end = () => ending.abort(signal?.reason);
    signal?.addEventListener('abort', end);
    try {
      // Redirects are not followed: they would take the token elsewhere.
      const init: RequestInit = { method, headers, redirect: 'manual', signal: ending.signal };
      const response = await this.#fetch(url, content === undefined ? init : { ...init, body: content });
      const taken = to !== undefined && response.status === 200 && typeOf(response) === mediaType;
      if (taken) await response.body?.pipeTo(to, { signal: ending.signal });
      return read<T>(response, taken ? new Uint8Array() : new Uint8Array(await response.arrayBuffer()), mediaType);
    } catch (error) {
      if (error instanceof FeError) throw error;
      signal?.throwIfAborted();
      throw late ? new TimedOutError(`no answer in ${this.timeout + wait} s`, { cause: error }) : whatWentWrong(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    }
  }
}

/** undefined for `{"found": false}`. */
export function found<T extends object>(answer: T | { found: false }): T | undefined {
  return 'found' in answer && answer.found === false ? undefined : (answer as T);
}

/** Refuse members that do not exist, which would be ignored. Throws TypeError. */
export function known(what: string, given: object, members: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (members.includes(name)) continue;
    const letters = lettersOf(name);
    const meant = members.find((member) => lettersOf(member) === letters);
    const there = meant === undefined ? `there are ${members.join(', ')}` : `did you mean ${meant}?`;
    throw new TypeError(`${what}: there is no ${name}; ${there}`);
  }
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** Seconds to wait, where an answer says so: as a number, or as a proxy may, as a date beside its own `Date`. */
export function retryAfterOf(headers: Headers): number | undefined {
  const said = headers.get('retry-after')?.trim() ?? '';
  if (/^[0-9]+$/.test(said)) return Number(said);
  const seconds = (Date.parse(said) - Date.parse(headers.get('date') ?? '')) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Return a good answer: a JSON object, or bytes of another type; throw BrokenAnswerError, or the ApiError that it is. */
function read<T>(response: Response, bytes: Uint8Array, mediaType: string): Answer<T> {
  const text = new TextDecoder().decode(bytes);
  let body: Record<string, unknown> | undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) body = value as Record<string, unknown>;
  } catch {
    // Not the service's: said below.
  }
  const { status, headers } = response;
  const excerpt = text.slice(0, EXCERPT);
  if (status >= 400) {
    throw refusal(status, body, excerpt, headers.get('x-request-id') ?? undefined, retryAfterOf(headers));
  }
  const isJson = mediaType === JSON_TYPE;
  const isRight = isJson ? body !== undefined : typeOf(response) === mediaType;
  if (!response.ok || !isRight) throw new BrokenAnswerError(status, excerpt);
  return { body: (isJson ? body : bytes) as T, headers };
}

function typeOf(response: Response): string | undefined {
  return response.headers.get('content-type')?.split(';')[0];
}

/** Tell apart what never left from what may have arrived. */
function whatWentWrong(error: unknown): FeError {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  const words = cause instanceof Error ? cause.message || code : String(cause);
  return NEVER_CONNECTED.has(code)
    ? new ServerAwayError(words, { cause: error })
    : new AnswerLostError(words, { cause: error });
}

function queryOf(query: Asked['query'] = {}): string {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) said.set(name, String(value));
  const text = said.toString();
  return text === '' ? text : `?${text}`;
}

function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
