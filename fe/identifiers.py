"""Ids as types of their own: a tenant's id where a user's is wanted is an error that mypy finds.

They cost nothing when the program runs, and are made where an id comes in or is first given: from a request, a row, a
command line. The engine knows tenants alone: what a row of it is about is a UUID to it.
"""

from typing import NewType
from uuid import UUID

#: Whose it is: the first part of every key.
TenantId = NewType("TenantId", int)
#: A tenant's user: who may sign with a certificate of their own.
UserId = NewType("UserId", UUID)
#: The public part of an API key.
ApiKeyId = NewType("ApiKeyId", str)
#: What stands in a submission in place of a key where a person submitted through the portal: no key has this form.
PORTAL_KEY = ApiKeyId("portal")
CertificateId = NewType("CertificateId", UUID)
#: Of a number sequence.
SequenceId = NewType("SequenceId", UUID)
#: The `taxLogId` of the interface; of version 7, so it carries the moment of submission.
SubmissionId = NewType("SubmissionId", UUID)
#: What a client calls its own request: the idempotency key.
ClientRequestId = NewType("ClientRequestId", str)
#: The authority's id of what it received.
TrackId = NewType("TrackId", str)
ReplayPlanId = NewType("ReplayPlanId", str)
#: Of what an operator did.
ActionId = NewType("ActionId", UUID)
#: Somebody who logs in to the portal.
PersonId = NewType("PersonId", UUID)
