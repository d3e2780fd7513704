"""Each type of receipt from an empty form, as a person would type it, to the authority's verdict on a whole service."""

from pathlib import Path

import trio

from fe.ecf.catalogue import EcfType
from fe.ecf.dates import local
from fe.store.postgres.db import Database
from fe.store.queue.wakeups import Wakeups
from tests.portal.receipt_form import ReceiptForm
from tests.portal.running import start_portal
from tests.system.stack import running_stack

_BUYER = {
    "Encabezado.Comprador.RNCComprador": "131880681",
    "Encabezado.Comprador.RazonSocialComprador": "Hotel Brisas del Yaque SRL",
}
_REFERENCE = {
    "InformacionReferencia.NCFModificado": "E310000000001",
    "InformacionReferencia.CodigoModificacion": "3",
    "InformacionReferencia.RazonModificacion": "Devolución de tres mesas",
}
_LINE = {"item.NombreItem": "Mesa plegable de caoba", "item.CantidadItem": "10", "item.PrecioUnitarioItem": "4800"}

#: Input for each type, in an order in which they can be issued, and its total.
TYPED: dict[EcfType, tuple[dict[str, str], str]] = {
    EcfType.CREDIT_FISCAL: (
        {
            **_BUYER,
            **_LINE,
            "Encabezado.IdDoc.TipoPago": "2",
            "Encabezado.IdDoc.FechaLimitePago": "2028-12-14",
            "item.DescuentoMonto": "500.50",
        },
        "56049.41",
    ),
    EcfType.CONSUMER: (
        {
            "item.NombreItem": "Ventilador",
            "item.PrecioUnitarioItem": "1180",
            "Encabezado.IdDoc.IndicadorMontoGravado": "1",
        },
        "1180.00",
    ),
    EcfType.DEBIT_NOTE: (
        {
            **_BUYER,
            **_REFERENCE,
            "item.NombreItem": "Intereses",
            "item.PrecioUnitarioItem": "960",
            "item.IndicadorFacturacion": "4",
            "item.IndicadorBienoServicio": "2",
        },
        "960.00",
    ),
    EcfType.CREDIT_NOTE: (
        {**_BUYER, **_REFERENCE, **_LINE, "item.CantidadItem": "3", "Encabezado.IdDoc.IndicadorNotaCredito": "0"},
        "16992.00",
    ),
    EcfType.PURCHASES: (
        {
            "Encabezado.Comprador.RNCComprador": "00100000009",
            "Encabezado.Comprador.RazonSocialComprador": "Ramón Peguero",
            "item.NombreItem": "Rótulos pintados a mano",
            "item.CantidadItem": "3",
            "item.PrecioUnitarioItem": "4000",
            "item.IndicadorBienoServicio": "2",
            "item.Retencion.MontoITBISRetenido": "2160",
            "item.Retencion.MontoISRRetenido": "1200",
        },
        "14160.00",
    ),
    EcfType.MINOR_EXPENSES: ({"item.NombreItem": "Peaje", "item.PrecioUnitarioItem": "120"}, "120.00"),
    EcfType.SPECIAL_REGIME: ({**_BUYER, **_LINE, "item.UnidadMedida": "43"}, "48000.00"),
    EcfType.GOVERNMENTAL: ({**_BUYER, **_LINE}, "56640.00"),
    EcfType.EXPORTS: (
        {
            "Encabezado.Comprador.IdentificadorExtranjero": "EIN 00-0000000",
            "Encabezado.Comprador.RazonSocialComprador": "Hudson Cocoa Imports Inc",
            "Encabezado.Comprador.PaisComprador": "Estados Unidos",
            "Encabezado.OtraMoneda.TipoMoneda": "USD",
            "Encabezado.OtraMoneda.TipoCambio": "60.25",
            "Encabezado.InformacionesAdicionales.NombrePuertoEmbarque": "Caucedo",
            "Encabezado.InformacionesAdicionales.CondicionesEntrega": "FOB",
            "Encabezado.InformacionesAdicionales.TotalFob": "903750",
            "Encabezado.InformacionesAdicionales.PesoBruto": "3100",
            "Encabezado.InformacionesAdicionales.UnidadPesoBruto": "21",
            "Encabezado.Transporte.ViaTransporte": "02",
            "Encabezado.Transporte.PaisDestino": "Estados Unidos",
            "item.NombreItem": "Cacao orgánico en grano",
            "item.CantidadItem": "50",
            "item.PrecioUnitarioItem": "18075",
            "item.OtraMonedaDetalle.PrecioOtraMoneda": "300",
        },
        "903750.00",
    ),
    EcfType.PAYMENTS_ABROAD: (
        {
            "Encabezado.Comprador.IdentificadorExtranjero": "EIN 00-0000000",
            "Encabezado.Comprador.RazonSocialComprador": "Cloud Example Inc",
            "item.NombreItem": "Alojamiento de servidores",
            "item.PrecioUnitarioItem": "60250",
            "item.Retencion.MontoISRRetenido": "16267.50",
        },
        "60250.00",
    ),
}


async def test_every_type_goes_from_an_empty_form_to_its_verdict(
    dsn: str, tmp_path: Path, portal_db: Database, nursery: trio.Nursery
) -> None:
    wakeups = Wakeups(portal_db)
    nursery.start_soon(wakeups.run)
    issued: dict[EcfType, str] = {}
    verdicts: dict[EcfType, object] = {}
    totals: dict[EcfType, str] = {}
    async with running_stack(dsn, tmp_path) as stack:
        portal = await start_portal(nursery, stack.db, portal_db, None, wakeups=wakeups)
        tenant = stack.tenant.tenant_id
        today = local(portal.clock()).date().isoformat()
        async with portal.browser(await portal.person(tenant)) as browser:
            for of, (typed, _) in TYPED.items():
                form = await ReceiptForm.open(browser, f"/companies/{tenant}/testecf/new/{of.value}")
                for name, value in typed.items():
                    form.type(name, value)
                if "InformacionReferencia.NCFModificado" in typed:
                    form.type("InformacionReferencia.FechaNCFModificado", today)
                await form.press("check")
                assert "Everything is in order" in form.text, (of, form.text)
                totals[of] = form.totals()["MontoTotal"]
                await form.press("issue")
                assert form.url is not None
                assert "/submissions/" in form.url.path, (of, form.text)
                issued[of] = form.url.path.rpartition("/")[2]
                verdicts[of] = (await stack.until_final(issued[of]))["status"]

    assert verdicts == dict.fromkeys(EcfType, "Aceptado")
    assert totals == {of: total for of, (_, total) in TYPED.items()}
