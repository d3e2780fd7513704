/** What can go wrong, each as a class of its own. A refusal by the tax authority is none of these: it is a verdict. */

import type { BatchItem, DecidedItem, Deduped, DocumentProblem, Submission } from './core.js';

/** Anything that went wrong. Its message is for people. */
export class FeError extends Error {
  /** Under which id a receipt was handed in. Repeated under it, it is certain to be issued once. */
  clientRequestId: string | undefined = undefined;
  /** Of a batch that went in several requests: what became of the receipts of those before the one that failed. */
  items: BatchItem[] | DecidedItem[] | undefined = undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No connection could be made: nothing was sent, so nothing has happened. */
export class ServerAwayError extends FeError {}

/** The call may have reached the service, and its answer did not come: what became of it is not known here. */
export class AnswerLostError extends FeError {}

/** The answer did not come in time. */
export class TimedOutError extends AnswerLostError {}

/** What came was not an answer of the service, but perhaps one of a proxy between: no JSON, or half of one. */
export class BrokenAnswerError extends AnswerLostError {
  constructor(
    readonly status: number,
    readonly excerpt: string,
  ) {
    super(`HTTP ${status} with a body that is not the service's: ${JSON.stringify(excerpt)}`);
  }
}

/** The service refused: its words, and what to tell whoever runs it. */
export class ApiError extends FeError {
  constructor(
    readonly status: number,
    /** The service's own words. */
    readonly said: string,
    /** Everything that is wrong with the document, the cause first. Empty where it is not about a document. */
    readonly problems: readonly DocumentProblem[] = [],
    /** `X-Request-Id` of the answer: whoever runs the service finds the call by it. */
    readonly requestId: string | undefined = undefined,
    /** Seconds after which to try again, where the service said so. */
    readonly retryAfter: number | undefined = undefined,
  ) {
    super(`${said} (HTTP ${status})`);
  }
}

/** 400: the request or its document cannot be what it should be; `problems` says why. Repeating does not help. */
export class InvalidError extends ApiError {}

/** 401: the key or its secret is wrong, revoked or expired. */
export class WrongCredentialsError extends ApiError {}

/** 403: the key may not do this. */
export class ForbiddenError extends ApiError {}

/** 404: there is no such thing of yours. */
export class NotThereError extends ApiError {}

/** 409: not in the state that it is in. */
export class ConflictError extends ApiError {}

/** 429: too many calls; `retryAfter` says when to go on. */
export class ThrottledError extends ApiError {}

/** 408 or 5xx: the service, or a proxy before it, cannot do it at the moment. */
export class UnavailableError extends ApiError {}

/** The clientRequestId was used before, with another document: that one counts, and this was not issued. */
export class ReusedIdError extends FeError {
  constructor(readonly first: Deduped) {
    super(`the clientRequestId was used before, for another document (${first.taxLogId})`);
  }
}

/** There was no verdict in time. The receipt is still on its way: go on with `wait`, and do not issue it again. */
export class NoVerdictYetError extends FeError {
  constructor(readonly submission: Submission) {
    super(`${submission.taxLogId} is still ${submission.status}`);
  }
}

/** A call that claims to be a webhook was not made by the service, or not lately, or is no event. */
export class WebhookRefusedError extends FeError {}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidError,
  401: WrongCredentialsError,
  403: ForbiddenError,
  404: NotThereError,
  408: UnavailableError,
  409: ConflictError,
  429: ThrottledError,
};

/** The error of an answer; `body` is undefined where a proxy answered something else than JSON. */
export function refusal(
  status: number,
  body: Record<string, unknown> | undefined,
  text: string,
  requestId: string | undefined,
  retryAfter: number | undefined,
): ApiError {
  const Kind = status >= 500 ? UnavailableError : (BY_STATUS[status] ?? ApiError);
  const problems = Array.isArray(body?.['problems']) ? (body['problems'] as DocumentProblem[]) : [];
  return new Kind(status, String(body?.['message'] ?? text), problems, requestId, retryAfter);
}
