"""Certificates by a form: what is put in is looked at first, is never given out, and says in time that it ends."""

import io
import os
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, pkcs12

from fe.accounts.expiry import within
from fe.ecf.certificate import open_p12
from fe.ecf.selfmade import self_made, to_p12
from fe.identifiers import TenantId
from fe.store import certificates, tenants
from fe.store.certificates import CertificateRecord
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.receivers import Receiver, open_for
from fe.vault import P12_PURPOSE, Belongs
from tests.ecf.p12_files import bomb
from tests.factories.certificates import HOLDER, rsa_key
from tests.factories.companies import VAULT, make_certificate
from tests.factories.tenants import make_submission, make_user
from tests.http.front import make_tenant
from tests.portal.running import Browser, Running, hidden_fields
