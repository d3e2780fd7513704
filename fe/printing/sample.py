"""Sample receipt to show print settings on. Its signature is not valid: print it only as a preview."""

from html import escape

_SAMPLE = """<?xml version="1.0" encoding="utf-8"?>
<ECF>
  <Encabezado>
    <Version>1.0</Version>
    <IdDoc>
      <TipoeCF>31</TipoeCF>
      <eNCF>E310000000000</eNCF>
      <FechaVencimientoSecuencia>31-12-2027</FechaVencimientoSecuencia>
      <IndicadorMontoGravado>0</IndicadorMontoGravado>
      <TipoIngresos>01</TipoIngresos>
      <TipoPago>1</TipoPago>
    </IdDoc>
    <Emisor>
      <RNCEmisor>{rnc}</RNCEmisor>
      <RazonSocialEmisor>{name}</RazonSocialEmisor>
      <DireccionEmisor>{address}</DireccionEmisor>
      <FechaEmision>05-02-2026</FechaEmision>
    </Emisor>
    <Comprador>
      <RNCComprador>000000000</RNCComprador>
      <RazonSocialComprador>Cliente de ejemplo, SRL</RazonSocialComprador>
    </Comprador>
    <Totales>
      <MontoGravadoTotal>1500.00</MontoGravadoTotal>
      <MontoGravadoI1>1500.00</MontoGravadoI1>
      <MontoExento>250.00</MontoExento>
      <ITBIS1>18</ITBIS1>
      <TotalITBIS>270.00</TotalITBIS>
      <TotalITBIS1>270.00</TotalITBIS1>
      <MontoTotal>2020.00</MontoTotal>
    </Totales>
  </Encabezado>
  <DetallesItems>
    <Item>
      <NumeroLinea>1</NumeroLinea>
      <IndicadorFacturacion>1</IndicadorFacturacion>
      <NombreItem>Artículo de ejemplo</NombreItem>
      <IndicadorBienoServicio>1</IndicadorBienoServicio>
      <CantidadItem>3</CantidadItem>
      <PrecioUnitarioItem>500.00</PrecioUnitarioItem>
      <MontoItem>1500.00</MontoItem>
    </Item>
    <Item>
      <NumeroLinea>2</NumeroLinea>
      <IndicadorFacturacion>4</IndicadorFacturacion>
      <NombreItem>Servicio exento de ejemplo</NombreItem>
      <IndicadorBienoServicio>2</IndicadorBienoServicio>
      <CantidadItem>1</CantidadItem>
      <PrecioUnitarioItem>250.00</PrecioUnitarioItem>
      <MontoItem>250.00</MontoItem>
    </Item>
  </DetallesItems>
  <FechaHoraFirma>05-02-2026 10:00:00</FechaHoraFirma>
  <Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignatureValue>RUpFTVBMTw==</SignatureValue></Signature>
</ECF>
"""


def sample_receipt(rnc: str, name: str, address: str) -> bytes:
    """Return the XML of a sample receipt of an issuer."""
    return _SAMPLE.format(rnc=escape(rnc), name=escape(name), address=escape(address)).encode()
