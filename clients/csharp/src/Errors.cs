using System;
using System.Collections.Generic;

namespace FeClient
{
    /// <summary>Base of all errors. A rejection by the tax authority is not an error: it is a verdict.</summary>
    public class FeException : Exception
    {
        /// <summary>Id that the receipt was submitted under. Repeated with this id it is issued once at most.</summary>
        public string ClientRequestId { get; internal set; }

        /// <summary>Of a batch that went in several requests: the results before the request that failed.</summary>
        public IReadOnlyList<Json> Items { get; internal set; }

        internal FeException(string message, Exception cause = null) : base(message, cause) { }
    }

    /// <summary>No connection could be made: nothing was sent, so nothing has happened.</summary>
    public sealed class ServerAwayException : FeException
    {
        internal ServerAwayException(Exception cause) : base("no connection: " + cause.Message, cause) { }
    }

    /// <summary>The call may have reached the service, but its answer did not come: the result is unknown.</summary>
    public class AnswerLostException : FeException
    {
        internal AnswerLostException(string message, Exception cause) : base(message, cause) { }
    }

    /// <summary>The answer did not come in time.</summary>
    public sealed class TimedOutException : AnswerLostException
    {
        internal TimedOutException(Exception cause) : base("no answer in time", cause) { }
    }

    /// <summary>The answer is not the service's; it may be from a proxy in between.</summary>
    public sealed class BrokenAnswerException : AnswerLostException
    {
        public int Status { get; }

        internal BrokenAnswerException(int status, string excerpt)
            : base("HTTP " + status + " with a body that is not the service's: " + excerpt, null) { Status = status; }
    }

    /// <summary>The service refused the call.</summary>
    public class ApiException : FeException
    {
        public int Status { get; private set; }

        /// <summary>All problems of the document, the cause first. Empty where the call was about none.</summary>
        public IReadOnlyList<Json> Problems { get; private set; }

        /// <summary>`X-Request-Id` of the answer, by which the service's operator finds the call.</summary>
        public string RequestId { get; private set; }

        /// <summary>Seconds after which to try again, where the service said so.</summary>
        public double? RetryAfter { get; private set; }

        internal ApiException(string message) : base(message) { }

        internal static ApiException Of(int status, Json body, string excerpt, string requestId, double? retryAfter)
        {
            string message = (body["message"].Text ?? excerpt) + " (HTTP " + status + ")";
            ApiException error;
            switch (status)
            {
                case 400: error = new InvalidException(message); break;
                case 401: error = new WrongCredentialsException(message); break;
                case 403: error = new ForbiddenException(message); break;
                case 404: error = new NotThereException(message); break;
                case 409: error = new ConflictException(message); break;
                case 429: error = new ThrottledException(message); break;
                default:
                    error = status == 408 || status >= 500 ? new UnavailableException(message) : new ApiException(message);
                    break;
            }
            error.Status = status;
            error.Problems = body["problems"].Items;
            error.RequestId = requestId;
            error.RetryAfter = retryAfter;
            return error;
        }
    }

    /// <summary>400: the document cannot be what it should be; `Problems` says why. Repeating does not help.</summary>
    public sealed class InvalidException : ApiException { internal InvalidException(string m) : base(m) { } }

    /// <summary>401: the key or its secret is wrong, revoked or expired.</summary>
    public sealed class WrongCredentialsException : ApiException { internal WrongCredentialsException(string m) : base(m) { } }

    /// <summary>403: the key may not do this.</summary>
    public sealed class ForbiddenException : ApiException { internal ForbiddenException(string m) : base(m) { } }

    /// <summary>404: there is no such thing of yours.</summary>
    public sealed class NotThereException : ApiException { internal NotThereException(string m) : base(m) { } }

    /// <summary>409: not in the state that it is in.</summary>
    public sealed class ConflictException : ApiException { internal ConflictException(string m) : base(m) { } }

    /// <summary>429: too many calls; `RetryAfter` says when to go on.</summary>
    public sealed class ThrottledException : ApiException { internal ThrottledException(string m) : base(m) { } }

    /// <summary>408 or 5xx: the service, or a proxy before it, cannot do it at the moment.</summary>
    public sealed class UnavailableException : ApiException { internal UnavailableException(string m) : base(m) { } }

    /// <summary>The clientRequestId was used before, with another document: that one counts.</summary>
    public sealed class ReusedIdException : FeException
    {
        /// <summary>The answer about the first one.</summary>
        public Json First { get; }

        internal ReusedIdException(Json first)
            : base("the clientRequestId was used before, for another document (" + first["taxLogId"].Text + ")") { First = first; }
    }

    /// <summary>There was no verdict in time. Go on with `WaitAsync`, and do not issue the receipt again.</summary>
    public sealed class NoVerdictYetException : FeException
    {
        /// <summary>The submission as it was last seen.</summary>
        public Json Submission { get; }

        internal NoVerdictYetException(Json submission)
            : base(submission["taxLogId"].Text + " is still " + submission["status"].Text) { Submission = submission; }
    }

    /// <summary>A call that claims to be a webhook was not made by the service, or not lately, or is no event.</summary>
    public sealed class WebhookRefusedException : FeException
    {
        internal WebhookRefusedException(string message) : base(message) { }
    }
}
