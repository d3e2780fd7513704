"""Client of fe, a service that issues electronic fiscal receipts (e-CF) to the tax authority of the Dominican Republic.

`Fe` blocks, `AsyncFe` is awaited (asyncio, Trio); both have the same calls. Requests and answers are dicts, typed in
`fe_client.models`; errors are in `fe_client.errors`.
"""

from fe_client.asynchronous import AsyncFe
from fe_client.blocking import Fe
from fe_client.errors import (
    AnswerLostError,
    ApiError,
    BrokenAnswerError,
    ConflictError,
    FeError,
    ForbiddenError,
    InvalidError,
    NotThereError,
    NoVerdictYetError,
    ReusedIdError,
    ServerAwayError,
    ThrottledError,
    TimedOutError,
    UnavailableError,
    WebhookRefusedError,
    WrongCredentialsError,
)
from fe_client.session import Retries
from fe_client.webhooks import Event, verify_service_signature, verify_webhook

__version__ = "0.1.0"

__all__ = [
    "AnswerLostError",
    "ApiError",
    "AsyncFe",
    "BrokenAnswerError",
    "ConflictError",
    "Event",
    "Fe",
    "FeError",
    "ForbiddenError",
    "InvalidError",
    "NoVerdictYetError",
    "NotThereError",
    "Retries",
    "ReusedIdError",
    "ServerAwayError",
    "ThrottledError",
    "TimedOutError",
    "UnavailableError",
    "WebhookRefusedError",
    "WrongCredentialsError",
    "verify_service_signature",
    "verify_webhook",
]
