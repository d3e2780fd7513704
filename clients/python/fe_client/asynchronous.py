"""The client that is awaited, on asyncio and on Trio: `AsyncFe`."""

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

import anyio
import httpx

from fe_client import calls
from fe_client.errors import FeError
from fe_client.plans import Plan, Reply, Send, Sleep, Step
from fe_client.session import Session
from fe_client.surface import Options
from fe_client.wire import reply_of, request_of, sink_of, what_went_wrong

P = ParamSpec("P")
T = TypeVar("T")


def _call(
    plan: Callable[Concatenate[Session, P], Plan[T]],
) -> Callable[Concatenate["AsyncFe", P], Coroutine[Any, Any, T]]:
    @functools.wraps(plan)
    async def method(self: "AsyncFe", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.carry_out(plan(self.session, *args, **kwargs))

    return method


def _list(
    pages: Callable[Concatenate[Session, P], calls.Pages[T]],
) -> Callable[Concatenate["AsyncFe", P], AsyncIterator[T]]:
    @functools.wraps(pages)
    async def method(self: "AsyncFe", /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        listed = pages(self.session, *args, **kwargs)
        while not listed.ended:
            for item in await self.carry_out(listed.fetch()):
                yield item

    return method


class AsyncFe:
    """The service, for one API key, to be awaited. Tasks may share it, and should: they share its token, too.

    A call that is cancelled may have reached the service: repeat it with the same `client_request_id`.

    ```python
    async with AsyncFe("https://fe.example.com", "fak_0123456789ab", "...") as fe:
        print((await fe.submit_and_wait(receipt, client_request_id="order-1001"))["status"])
    ```
    """

    def __init__(
        self,
        base_url: str,
        api_key_id: str,
        api_secret: str,
        *,
        http: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[object]] = anyio.sleep,
        **options: Unpack[Options],
    ) -> None:
        """Take where the service is and a key of it. `http`, if given, is yours to close; nothing is sent yet."""
        self.session = Session(base_url, api_key_id, api_secret, **options)
        self._http = http or httpx.AsyncClient()
        self._closes_http = http is None
        self._sleep = sleep
        self._alone: anyio.Lock | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Let go of the connections."""
        if self._closes_http:
            await self._http.aclose()

    async def carry_out(self, plan: Plan[T]) -> T:
        """Do every step of a plan. Cancelled, it leaves nothing behind but what was sent."""
        came: object = None
        error: FeError | None = None
        try:
            while True:
                step = plan.send(came) if error is None else plan.throw(error)
                came = error = None
                try:
                    came = await self._do(step)
                except FeError as raised:
                    error = raised
        except StopIteration as ended:
            result: T = ended.value
            return result
        finally:
            plan.close()

    async def _do(self, step: Step) -> object:
        if isinstance(step, Send):
            return await self._send(step)
        if isinstance(step, Sleep):
            return await self._sleep(step.seconds)
        if self._alone is None:
            self._alone = anyio.Lock()  # here: it belongs to the loop that runs
        async with self._alone:
            return await self.carry_out(step.plan)

    async def _send(self, send: Send) -> Reply:
        try:
            async with self._http.stream(**request_of(send)) as response:
                sink = sink_of(send, response)
                if sink is None:
                    await response.aread()
                    return reply_of(response, response.content)
                async for part in response.aiter_bytes():
                    sink.write(part)
                return reply_of(response, b"")
        except httpx.RequestError as error:
            raise what_went_wrong(error) from error

    login = _call(calls.login)
    call = _call(calls.call)
    submit = _call(calls.submit)
    submit_and_wait = _call(calls.submit_and_wait)
    wait = _call(calls.wait)
    status = _call(calls.status)
    xml = _call(calls.xml)
    pdf = _call(calls.pdf)
    pdfs = _call(calls.pdfs)
    ticket = _call(calls.ticket)
    qr_png = _call(calls.qr_png)
    qr_svg = _call(calls.qr_svg)
    timeline = _call(calls.timeline)
    share = _call(calls.share)
    revoke_share = _call(calls.revoke_share)
    validate = _call(calls.validate)
    preview = _call(calls.preview)
    batch = _call(calls.batch)
    invoices = _list(calls.invoices)

    ncf = _call(calls.ncf)
    put_ncf = _call(calls.put_ncf)
    change_ncf = _call(calls.change_ncf)
    delete_ncf = _call(calls.delete_ncf)
    lease_agent = _call(calls.lease_agent)

    received = _list(calls.received)
    received_document = _call(calls.received_document)
    received_xml = _call(calls.received_xml)
    received_pdfs = _call(calls.received_pdfs)
    received_pdf = _call(calls.received_pdf)
    received_ticket = _call(calls.received_ticket)
    received_qr_png = _call(calls.received_qr_png)
    received_qr_svg = _call(calls.received_qr_svg)
    approve = _call(calls.approve)
    reject = _call(calls.reject)
    decide = _call(calls.decide)

    printing = _call(calls.printing)
    set_printing = _call(calls.set_printing)
    month = _call(calls.month)
    month_workbook = _call(calls.month_workbook)
    month_archive = _call(calls.month_archive)
    archive_packages = _call(calls.archive_packages)
    archive_package = _call(calls.archive_package)
    archive_time_stamp = _call(calls.archive_time_stamp)
    month_606 = _call(calls.month_606)
    classify_purchases = _call(calls.classify_purchases)
    authority = _call(calls.authority)
    service_status = _call(calls.service_status)
    mode = _call(calls.mode)
    set_mode = _call(calls.set_mode)
    sandbox_receipt = _call(calls.sandbox_receipt)
    sandbox_approval = _call(calls.sandbox_approval)
    sandbox_outage = _call(calls.sandbox_outage)
    paper_ranges = _call(calls.paper_ranges)
    add_paper_range = _call(calls.add_paper_range)
    delete_paper_range = _call(calls.delete_paper_range)
    paper_receipts = _call(calls.paper_receipts)
    enter_paper_receipts = _call(calls.enter_paper_receipts)
    paper_receipt = _call(calls.paper_receipt)
    correct_paper_receipt = _call(calls.correct_paper_receipt)
    replace_paper_receipts = _call(calls.replace_paper_receipts)
    voidable = _call(calls.voidable)
    void_numbers = _call(calls.void_numbers)
    voidings = _call(calls.voidings)
    voiding = _call(calls.voiding)
    voiding_xml = _call(calls.voiding_xml)
    month_608 = _call(calls.month_608)
    usage = _call(calls.usage)
    billing = _call(calls.billing)

    import_receipts = _call(calls.import_receipts)
    import_status = _call(calls.import_status)
    issue_import = _call(calls.issue_import)
    import_workbook = _call(calls.import_workbook)
    import_template = _call(calls.import_template)

    mail = _call(calls.mail)
    set_mail = _call(calls.set_mail)

    customers = _list(calls.customers)
    customer = _call(calls.customer)
    put_customer = _call(calls.put_customer)
    delete_customer = _call(calls.delete_customer)
    recurring = _list(calls.recurring)
    recurring_receipt = _call(calls.recurring_receipt)
    put_recurring = _call(calls.put_recurring)
    delete_recurring = _call(calls.delete_recurring)
    decide_recurring_turn = _call(calls.decide_recurring_turn)
    taxpayer = _call(calls.taxpayer)
    products = _list(calls.products)
    product = _call(calls.product)
    put_product = _call(calls.put_product)
    delete_product = _call(calls.delete_product)

    webhooks = _call(calls.webhooks)
    set_webhook = _call(calls.set_webhook)
    webhook_endpoints = _call(calls.webhook_endpoints)
    set_webhook_endpoint = _call(calls.set_webhook_endpoint)
    delete_webhook_endpoint = _call(calls.delete_webhook_endpoint)
    rotate_webhook = _call(calls.rotate_webhook)
    test_webhook = _call(calls.test_webhook)
    deliveries = _list(calls.deliveries)
    requests = _list(calls.requests)
    delivery = _call(calls.delivery)
    retry_delivery = _call(calls.retry_delivery)
    recover_webhook = _call(calls.recover_webhook)
    webhook_recoveries = _call(calls.webhook_recoveries)
