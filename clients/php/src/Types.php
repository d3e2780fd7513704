<?php

/**
 * What is answered, as classes that `from` reads, and what is sent, as classes that named arguments fill. A member that
 * is absent is null; amounts are texts such as "118.50".
 *
 * Made from the service's description by `python -m clients.generate`: changes belong there.
 */

declare(strict_types=1);

namespace FeClient\Types;

/** What is sent: a member that is null is left out. */
abstract readonly class Request implements \JsonSerializable
{
    /** @return array<string, mixed> this as the calls take it */
    final public function toArray(): array
    {
        return array_map(self::plain(...), array_filter(get_object_vars($this), fn (mixed $value) => $value !== null));
    }

    private static function plain(mixed $value): mixed
    {
        return match (true) {
            $value instanceof self => $value->toArray(),
            is_array($value) => array_map(self::plain(...), $value),
            default => $value,
        };
    }

    final public function jsonSerialize(): object
    {
        return (object) $this->toArray();
    }
}

/** What is answered: a member that is absent is null, and so is one of another kind than the description has. */
abstract readonly class Answer
{
    /** @var array<string, class-string<Answer>> by a member, the class of what its list holds */
    protected const LISTS = [];

    /** @param array<string, mixed> $data an answer, or a part of one */
    final public static function from(array $data): static
    {
        $values = [];
        foreach ((new \ReflectionMethod(static::class, '__construct'))->getParameters() as $member) {
            $values[] = self::read($data[$member->name] ?? null, $member);
        }
        return new static(...$values);
    }

    private static function read(mixed $value, \ReflectionParameter $member): mixed
    {
        $class = static::LISTS[$member->name] ?? null;
        if ($class !== null) {
            return is_array($value) ? array_map($class::from(...), $value) : null;
        }
        return match ($type = $member->getType()->getName()) {
            'string' => is_string($value) || is_int($value) ? (string) $value : null,
            'int' => is_int($value) ? $value : null,
            'bool' => is_bool($value) ? $value : null,
            'array' => is_array($value) ? $value : null,
            'mixed' => $value,
            default => is_array($value) ? $type::from($value) : null,
        };
    }
}

final readonly class AcceptedSubmission extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $taxLogId = null,
        public ?string $status = null,
        public ?string $environment = null,
        public ?bool $billable = null,
        public ?string $message = null,
        public ?string $tipoEcf = null,
        public ?string $montoTotal = null,
        public ?string $totalITBIS = null,
        public ?string $rncComprador = null,
        public ?string $razonSocialComprador = null,
        public ?string $fechaEmision = null,
        public ?bool $readyToPrint = null,
        public ?string $eNCF = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class Acecf extends Request
{
    public function __construct(
        public AcecfDetalleAprobacionComercial $DetalleAprobacionComercial,
    ) {
    }
}

final readonly class AcecfDetalleAprobacionComercial extends Request
{
    public function __construct(
        public string $RNCEmisor,
        public string $eNCF,
        public string $FechaEmision,
        public string $MontoTotal,
        public string $RNCComprador,
        public string $Estado,
        public ?string $Version = null,
        public ?string $DetalleMotivoRechazo = null,
        public ?string $FechaHoraAprobacionComercial = null,
    ) {
    }
}

final readonly class AcecfPayload extends Request
{
    public function __construct(
        public Acecf $ACECF,
    ) {
    }
}

final readonly class Anecf extends Request
{
    public function __construct(
        public AnecfEncabezado $Encabezado,
        public AnecfDetalleAnulacion $DetalleAnulacion,
    ) {
    }
}

final readonly class AnecfAnulacion extends Request
{
    public function __construct(
        public int $NoLinea,
        public string $TipoeCF,
        public AnecfTablaRangoSecuenciasAnuladaseNCF $TablaRangoSecuenciasAnuladaseNCF,
        public int $CantidadeNCFAnulados,
    ) {
    }
}

final readonly class AnecfDetalleAnulacion extends Request
{
    public function __construct(
        /** @var list<AnecfAnulacion> */
        public array $Anulacion,
    ) {
    }
}

final readonly class AnecfEncabezado extends Request
{
    public function __construct(
        public string $RncEmisor,
        public int $CantidadeNCFAnulados,
        public ?string $Version = null,
        public ?string $FechaHoraAnulacioneNCF = null,
    ) {
    }
}

final readonly class AnecfPayload extends Request
{
    public function __construct(
        public Anecf $ANECF,
    ) {
    }
}

final readonly class AnecfSecuencias extends Request
{
    public function __construct(
        public string $SecuenciaeNCFDesde,
        public string $SecuenciaeNCFHasta,
    ) {
    }
}

final readonly class AnecfTablaRangoSecuenciasAnuladaseNCF extends Request
{
    public function __construct(
        /** @var list<AnecfSecuencias> */
        public array $Secuencias,
    ) {
    }
}

final readonly class ApprovalAtAuthority extends Answer
{
    public function __construct(
        public ?string $status = null,
        public ?string $at = null,
        public ?string $message = null,
    ) {
    }
}

final readonly class ApprovalTaken extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $id = null,
        public ?string $environment = null,
        public ?string $decision = null,
        public ?string $approvalStatus = null,
        public ?string $taxLogId = null,
        public ?string $status = null,
        public ?bool $deduped = null,
        public ?string $message = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class ApproveReceived extends Request
{
    public function __construct(
        public ?string $clientRequestId = null,
        public ?string $asUser = null,
        public ?string $asUserId = null,
    ) {
    }
}

final readonly class ArchiveList extends Answer
{
    protected const LISTS = ['items' => ArchivePackage::class];

    public function __construct(
        public ?int $limit = null,
        /** @var list<ArchivePackage>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class ArchivePackage extends Answer
{
    public function __construct(
        public ?int $number = null,
        public ?string $day = null,
        public ?int $receipts = null,
        public ?int $additions = null,
        public ?int $bytes = null,
        public ?string $sha256 = null,
        public ?string $manifestSha256 = null,
        public ?string $previousManifestSha256 = null,
        public ?string $storedAt = null,
        public ?string $stampedAt = null,
    ) {
    }
}

final readonly class AskedRange extends Request
{
    public function __construct(
        public string $first,
        public ?string $last = null,
    ) {
    }
}

final readonly class Attempt extends Answer
{
    public function __construct(
        public ?string $at = null,
        public ?int $durationMs = null,
        public ?int $status = null,
        public ?string $error = null,
        public ?bool $redirected = null,
        public ?string $answer = null,
    ) {
    }
}

final readonly class AuthorityEvent extends Answer
{
    public function __construct(
        public ?string $event = null,
        public ?string $sentAt = null,
        public ?AuthorityOutage $authority = null,
    ) {
    }
}

final readonly class AuthorityHealth extends Answer
{
    protected const LISTS = ['environments' => EnvironmentHealth::class];

    public function __construct(
        public ?string $measuredAt = null,
        /** @var list<EnvironmentHealth>|null */
        public ?array $environments = null,
    ) {
    }
}

final readonly class AuthorityOutage extends Answer
{
    public function __construct(
        public ?string $environment = null,
        public ?string $host = null,
        public ?string $since = null,
        public ?string $until = null,
    ) {
    }
}

final readonly class Batch extends Answer
{
    protected const LISTS = ['items' => BatchItem::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        /** @var list<BatchItem>|null */
        public ?array $items = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class BatchItem extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class, 'problems' => DocumentProblem::class];

    public function __construct(
        public ?int $statusCode = null,
        public ?string $message = null,
        public ?string $taxLogId = null,
        public ?string $status = null,
        public ?string $environment = null,
        public ?bool $billable = null,
        public ?bool $deduped = null,
        public ?bool $bodyMatched = null,
        public ?string $tipoEcf = null,
        public ?string $montoTotal = null,
        public ?string $totalITBIS = null,
        public ?string $rncComprador = null,
        public ?string $razonSocialComprador = null,
        public ?string $fechaEmision = null,
        public ?bool $readyToPrint = null,
        public ?string $eNCF = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
        /** @var list<DocumentProblem>|null */
        public ?array $problems = null,
    ) {
    }
}

final readonly class BatchRequest extends Request
{
    public function __construct(
        /** @var list<mixed> */
        public array $items,
        public ?bool $strict = null,
    ) {
    }
}

final readonly class BillingPeriod extends Answer
{
    public function __construct(
        public ?string $period = null,
        public ?string $periodStart = null,
        public ?string $periodEnd = null,
        public ?bool $enabled = null,
        public ?string $subscriptionId = null,
        public ?string $unitPrice = null,
        public ?string $currency = null,
        public ?string $pricingTier = null,
        public ?int $emissionsAccepted = null,
        public ?string $subtotal = null,
        public ?string $lastUpdated = null,
    ) {
    }
}

final readonly class BuyerApproval extends Answer
{
    public function __construct(
        public ?string $taxLogId = null,
        public ?string $environment = null,
        public ?string $eNCF = null,
        public ?string $rncComprador = null,
        public ?string $reason = null,
        public ?string $receivedAt = null,
    ) {
    }
}

final readonly class BuyerEvent extends Answer
{
    public function __construct(
        public ?string $event = null,
        public ?string $sentAt = null,
        public ?BuyerApproval $approval = null,
    ) {
    }
}

final readonly class CertificateEvent extends Answer
{
    public function __construct(
        public ?string $event = null,
        public ?string $sentAt = null,
        public ?CertificateState $certificate = null,
    ) {
    }
}

final readonly class CertificateState extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $user = null,
        public ?string $expiresAt = null,
    ) {
    }
}

final readonly class ChangedSequence extends Request
{
    public function __construct(
        public ?int $minSequence = null,
        public ?int $maxSequence = null,
        public ?string $expireAt = null,
        public ?bool $isActive = null,
        /** @var list<string>|null */
        public ?array $users = null,
        public ?string $agentId = null,
        public ?GivenAhead $nextRange = null,
        public ?int $currentSequence = null,
    ) {
    }
}

final readonly class CustomerItem extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $id = null,
        public ?string $name = null,
        public ?string $rnc = null,
        public ?string $email = null,
        public ?string $phone = null,
        public ?string $address = null,
        public ?string $municipality = null,
        public ?string $province = null,
        public ?string $type = null,
        public ?string $source = null,
        public ?int $version = null,
        public ?string $changedAt = null,
        public ?string $usedAt = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class CustomerList extends Answer
{
    protected const LISTS = ['items' => CustomerItem::class];

    public function __construct(
        public ?int $limit = null,
        /** @var list<CustomerItem>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class CustomerRequest extends Request
{
    public function __construct(
        public string $name,
        public ?string $rnc = null,
        public ?string $email = null,
        public ?string $phone = null,
        public ?string $address = null,
        public ?string $municipality = null,
        public ?string $province = null,
        public ?string $type = null,
        public ?int $version = null,
    ) {
    }
}

final readonly class DayStatus extends Answer
{
    public function __construct(
        public ?string $day = null,
        public ?int $measuredMinutes = null,
        public ?int $degradedMinutes = null,
        public ?int $downMinutes = null,
    ) {
    }
}

final readonly class DecideReceived extends Request
{
    public function __construct(
        public string $decision,
        /** @var list<string> */
        public array $ids,
        public ?string $reason = null,
        public ?string $asUser = null,
        public ?string $asUserId = null,
    ) {
    }
}

final readonly class DecidedItem extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?int $statusCode = null,
        public ?string $message = null,
        public ?string $taxLogId = null,
        public ?string $status = null,
    ) {
    }
}

final readonly class DecidedMany extends Answer
{
    protected const LISTS = ['items' => DecidedItem::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $decision = null,
        /** @var list<DecidedItem>|null */
        public ?array $items = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class Deduped extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $taxLogId = null,
        public ?string $status = null,
        public ?string $environment = null,
        public ?bool $deduped = null,
        public ?bool $bodyMatched = null,
        public ?string $message = null,
        public ?string $tipoEcf = null,
        public ?string $montoTotal = null,
        public ?string $totalITBIS = null,
        public ?string $rncComprador = null,
        public ?string $razonSocialComprador = null,
        public ?string $fechaEmision = null,
        public ?string $eNCF = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class Deleted extends Answer
{
    public function __construct(
        public ?bool $ok = null,
        public ?string $prefix = null,
    ) {
    }
}

final readonly class Delivery extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $webhookId = null,
        public ?string $endpoint = null,
        public ?string $event = null,
        public ?string $about = null,
        public ?string $environment = null,
        public ?string $state = null,
        public ?int $attempts = null,
        public ?string $createdAt = null,
        public ?string $nextAttemptAt = null,
        public ?string $finishedAt = null,
        public ?string $lastError = null,
        public ?bool $redirected = null,
    ) {
    }
}

final readonly class DeliveryAgain extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $state = null,
        public ?string $message = null,
    ) {
    }
}

final readonly class DeliveryDetail extends Answer
{
    protected const LISTS = ['tries' => Attempt::class];

    public function __construct(
        public ?string $id = null,
        public ?string $webhookId = null,
        public ?string $endpoint = null,
        public ?string $event = null,
        public ?string $about = null,
        public ?string $environment = null,
        public ?string $state = null,
        public ?int $attempts = null,
        public ?string $createdAt = null,
        public ?string $nextAttemptAt = null,
        public ?string $finishedAt = null,
        public ?string $lastError = null,
        public ?bool $redirected = null,
        /** @var list<Attempt>|null */
        public ?array $tries = null,
    ) {
    }
}

final readonly class DeliveryPage extends Answer
{
    protected const LISTS = ['items' => Delivery::class];

    public function __construct(
        public ?int $page = null,
        public ?int $limit = null,
        public ?int $total = null,
        /** @var list<Delivery>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class DeliveryStretch extends Answer
{
    protected const LISTS = ['items' => Delivery::class];

    public function __construct(
        public ?int $limit = null,
        /** @var list<Delivery>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class DocumentProblem extends Answer
{
    public function __construct(
        public ?string $code = null,
        public ?string $path = null,
        public ?string $message = null,
        public ?string $messageEs = null,
        public ?string $severity = null,
        public ?int $line = null,
        public ?int $column = null,
        public ?string $found = null,
        public ?string $expected = null,
        public ?string $expectedEs = null,
        public ?string $fix = null,
        public ?string $fixEs = null,
        /** @var list<string>|null */
        public ?array $allowed = null,
        public ?ProblemRepair $repair = null,
    ) {
    }
}

final readonly class Ecf extends Request
{
    public function __construct(
        public EcfEncabezado $Encabezado,
        public EcfDetallesItems $DetallesItems,
        public ?EcfSubtotales $Subtotales = null,
        public ?EcfDescuentosORecargos $DescuentosORecargos = null,
        public ?EcfPaginacion $Paginacion = null,
        public ?EcfInformacionReferencia $InformacionReferencia = null,
        public ?string $FechaHoraFirma = null,
    ) {
    }
}

final readonly class EcfCodigosItem extends Request
{
    public function __construct(
        public string $TipoCodigo,
        public string $CodigoItem,
    ) {
    }
}

final readonly class EcfComprador extends Request
{
    public function __construct(
        public ?string $RNCComprador = null,
        public ?string $RazonSocialComprador = null,
        public ?string $ContactoComprador = null,
        public ?string $CorreoComprador = null,
        public ?string $DireccionComprador = null,
        public ?string $MunicipioComprador = null,
        public ?string $ProvinciaComprador = null,
        public ?string $FechaEntrega = null,
        public ?string $ContactoEntrega = null,
        public ?string $DireccionEntrega = null,
        public ?string $TelefonoAdicional = null,
        public ?string $FechaOrdenCompra = null,
        public ?string $NumeroOrdenCompra = null,
        public ?string $CodigoInternoComprador = null,
        public ?string $ResponsablePago = null,
        public ?string $InformacionAdicionalComprador = null,
        public ?string $IdentificadorExtranjero = null,
        public ?string $PaisComprador = null,
    ) {
    }
}

final readonly class EcfDescuentoORecargo extends Request
{
    public function __construct(
        public string $TipoAjuste,
        public ?int $NumeroLinea = null,
        public ?string $IndicadorNorma1007 = null,
        public ?string $DescripcionDescuentooRecargo = null,
        public ?string $TipoValor = null,
        public ?string $ValorDescuentooRecargo = null,
        public ?string $MontoDescuentooRecargo = null,
        public ?string $MontoDescuentooRecargoOtraMoneda = null,
        public ?string $IndicadorFacturacionDescuentooRecargo = null,
    ) {
    }
}

final readonly class EcfDescuentosORecargos extends Request
{
    public function __construct(
        /** @var list<EcfDescuentoORecargo> */
        public array $DescuentoORecargo,
    ) {
    }
}

final readonly class EcfDetallesItems extends Request
{
    public function __construct(
        /** @var list<EcfItem> */
        public array $Item,
    ) {
    }
}

final readonly class EcfEmisor extends Request
{
    public function __construct(
        public ?string $RNCEmisor = null,
        public ?string $RazonSocialEmisor = null,
        public ?string $NombreComercial = null,
        public ?string $Sucursal = null,
        public ?string $DireccionEmisor = null,
        public ?string $Municipio = null,
        public ?string $Provincia = null,
        public ?EcfTablaTelefonoEmisor $TablaTelefonoEmisor = null,
        public ?string $CorreoEmisor = null,
        public ?string $WebSite = null,
        public ?string $ActividadEconomica = null,
        public ?string $CodigoVendedor = null,
        public ?string $NumeroFacturaInterna = null,
        public ?int $NumeroPedidoInterno = null,
        public ?string $ZonaVenta = null,
        public ?string $RutaVenta = null,
        public ?string $InformacionAdicionalEmisor = null,
        public ?string $FechaEmision = null,
    ) {
    }
}

final readonly class EcfEncabezado extends Request
{
    public function __construct(
        public EcfIdDoc $IdDoc,
        public ?string $Version = null,
        public ?EcfEmisor $Emisor = null,
        public ?EcfComprador $Comprador = null,
        public ?EcfInformacionesAdicionales $InformacionesAdicionales = null,
        public ?EcfTransporte $Transporte = null,
        public ?EcfTotales $Totales = null,
        public ?EcfOtraMoneda $OtraMoneda = null,
    ) {
    }
}

final readonly class EcfFormaDePago extends Request
{
    public function __construct(
        public string $FormaPago,
        public ?string $MontoPago = null,
    ) {
    }
}

final readonly class EcfIdDoc extends Request
{
    public function __construct(
        public ?string $TipoeCF = null,
        public ?string $eNCF = null,
        public ?string $FechaVencimientoSecuencia = null,
        public ?string $IndicadorEnvioDiferido = null,
        public ?string $IndicadorMontoGravado = null,
        public ?string $IndicadorServicioTodoIncluido = null,
        public ?string $TipoIngresos = null,
        public ?string $TipoPago = null,
        public ?string $FechaLimitePago = null,
        public ?string $TerminoPago = null,
        public ?EcfTablaFormasPago $TablaFormasPago = null,
        public ?string $TipoCuentaPago = null,
        public ?string $NumeroCuentaPago = null,
        public ?string $BancoPago = null,
        public ?string $FechaDesde = null,
        public ?string $FechaHasta = null,
        public ?int $TotalPaginas = null,
        public ?string $IndicadorNotaCredito = null,
    ) {
    }
}

final readonly class EcfImpuestoAdicionalOtraMoneda extends Request
{
    public function __construct(
        public ?string $TipoImpuestoOtraMoneda = null,
        public ?string $TasaImpuestoAdicionalOtraMoneda = null,
        public ?string $MontoImpuestoSelectivoConsumoEspecificoOtraMoneda = null,
        public ?string $MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda = null,
        public ?string $OtrosImpuestosAdicionalesOtraMoneda = null,
    ) {
    }
}

final readonly class EcfImpuestosAdicionales extends Request
{
    public function __construct(
        /** @var list<EcfTotalesImpuestoAdicional> */
        public array $ImpuestoAdicional,
    ) {
    }
}

final readonly class EcfImpuestosAdicionalesOtraMoneda extends Request
{
    public function __construct(
        /** @var list<EcfImpuestoAdicionalOtraMoneda> */
        public array $ImpuestoAdicionalOtraMoneda,
    ) {
    }
}

final readonly class EcfInformacionReferencia extends Request
{
    public function __construct(
        public ?string $NCFModificado = null,
        public ?string $RNCOtroContribuyente = null,
        public ?string $FechaNCFModificado = null,
        public ?string $CodigoModificacion = null,
        public ?string $RazonModificacion = null,
    ) {
    }
}

final readonly class EcfInformacionesAdicionales extends Request
{
    public function __construct(
        public ?string $FechaEmbarque = null,
        public ?string $NumeroEmbarque = null,
        public ?string $NumeroContenedor = null,
        public ?string $NumeroReferencia = null,
        public ?string $PesoBruto = null,
        public ?string $PesoNeto = null,
        public ?string $UnidadPesoBruto = null,
        public ?string $UnidadPesoNeto = null,
        public ?string $CantidadBulto = null,
        public ?string $UnidadBulto = null,
        public ?string $VolumenBulto = null,
        public ?string $UnidadVolumen = null,
        public ?string $NombrePuertoEmbarque = null,
        public ?string $CondicionesEntrega = null,
        public ?string $TotalFob = null,
        public ?string $Seguro = null,
        public ?string $Flete = null,
        public ?string $OtrosGastos = null,
        public ?string $TotalCif = null,
        public ?string $RegimenAduanero = null,
        public ?string $NombrePuertoSalida = null,
        public ?string $NombrePuertoDesembarque = null,
    ) {
    }
}

final readonly class EcfItem extends Request
{
    public function __construct(
        public string $NombreItem,
        public string $IndicadorBienoServicio,
        public string $CantidadItem,
        public string $PrecioUnitarioItem,
        public ?int $NumeroLinea = null,
        public ?EcfTablaCodigosItem $TablaCodigosItem = null,
        public ?string $IndicadorFacturacion = null,
        public ?EcfRetencion $Retencion = null,
        public ?string $DescripcionItem = null,
        public ?string $UnidadMedida = null,
        public ?string $CantidadReferencia = null,
        public ?string $UnidadReferencia = null,
        public ?EcfTablaSubcantidad $TablaSubcantidad = null,
        public ?string $GradosAlcohol = null,
        public ?string $PrecioUnitarioReferencia = null,
        public ?string $FechaElaboracion = null,
        public ?string $FechaVencimientoItem = null,
        public ?string $DescuentoMonto = null,
        public ?EcfTablaSubDescuento $TablaSubDescuento = null,
        public ?string $RecargoMonto = null,
        public ?EcfTablaSubRecargo $TablaSubRecargo = null,
        public ?EcfTablaImpuestoAdicional $TablaImpuestoAdicional = null,
        public ?EcfOtraMonedaDetalle $OtraMonedaDetalle = null,
        public ?string $MontoItem = null,
        public ?EcfMineria $Mineria = null,
    ) {
    }
}

final readonly class EcfItemImpuestoAdicional extends Request
{
    public function __construct(
        public string $TipoImpuesto,
    ) {
    }
}

final readonly class EcfMineria extends Request
{
    public function __construct(
        public ?string $PesoNetoKilogramo = null,
        public ?string $PesoNetoMineria = null,
        public ?string $TipoAfiliacion = null,
        public ?string $Liquidacion = null,
    ) {
    }
}

final readonly class EcfOtraMoneda extends Request
{
    public function __construct(
        public ?string $TipoMoneda = null,
        public ?string $TipoCambio = null,
        public ?string $MontoGravadoTotalOtraMoneda = null,
        public ?string $MontoGravado1OtraMoneda = null,
        public ?string $MontoGravado2OtraMoneda = null,
        public ?string $MontoGravado3OtraMoneda = null,
        public ?string $MontoExentoOtraMoneda = null,
        public ?string $TotalITBISOtraMoneda = null,
        public ?string $TotalITBIS1OtraMoneda = null,
        public ?string $TotalITBIS2OtraMoneda = null,
        public ?string $TotalITBIS3OtraMoneda = null,
        public ?string $MontoImpuestoAdicionalOtraMoneda = null,
        public ?EcfImpuestosAdicionalesOtraMoneda $ImpuestosAdicionalesOtraMoneda = null,
        public ?string $MontoTotalOtraMoneda = null,
    ) {
    }
}

final readonly class EcfOtraMonedaDetalle extends Request
{
    public function __construct(
        public ?string $PrecioOtraMoneda = null,
        public ?string $DescuentoOtraMoneda = null,
        public ?string $RecargoOtraMoneda = null,
        public ?string $MontoItemOtraMoneda = null,
    ) {
    }
}

final readonly class EcfPagina extends Request
{
    public function __construct(
        public ?int $PaginaNo = null,
        public ?int $NoLineaDesde = null,
        public ?int $NoLineaHasta = null,
        public ?string $SubtotalMontoGravadoPagina = null,
        public ?string $SubtotalMontoGravado1Pagina = null,
        public ?string $SubtotalMontoGravado2Pagina = null,
        public ?string $SubtotalMontoGravado3Pagina = null,
        public ?string $SubtotalExentoPagina = null,
        public ?string $SubtotalItbisPagina = null,
        public ?string $SubtotalItbis1Pagina = null,
        public ?string $SubtotalItbis2Pagina = null,
        public ?string $SubtotalItbis3Pagina = null,
        public ?string $SubtotalImpuestoAdicionalPagina = null,
        public ?EcfSubtotalImpuestoAdicional $SubtotalImpuestoAdicional = null,
        public ?string $MontoSubtotalPagina = null,
        public ?string $SubtotalMontoNoFacturablePagina = null,
    ) {
    }
}

final readonly class EcfPaginacion extends Request
{
    public function __construct(
        /** @var list<EcfPagina> */
        public array $Pagina,
    ) {
    }
}

final readonly class EcfRetencion extends Request
{
    public function __construct(
        public ?string $IndicadorAgenteRetencionoPercepcion = null,
        public ?string $MontoITBISRetenido = null,
        public ?string $MontoISRRetenido = null,
    ) {
    }
}

final readonly class EcfSubDescuento extends Request
{
    public function __construct(
        public string $TipoSubDescuento,
        public ?string $SubDescuentoPorcentaje = null,
        public ?string $MontoSubDescuento = null,
    ) {
    }
}

final readonly class EcfSubRecargo extends Request
{
    public function __construct(
        public string $TipoSubRecargo,
        public ?string $SubRecargoPorcentaje = null,
        public ?string $MontoSubRecargo = null,
    ) {
    }
}

final readonly class EcfSubcantidadItem extends Request
{
    public function __construct(
        public ?string $Subcantidad = null,
        public ?string $CodigoSubcantidad = null,
    ) {
    }
}

final readonly class EcfSubtotal extends Request
{
    public function __construct(
        public ?int $NumeroSubTotal = null,
        public ?string $DescripcionSubtotal = null,
        public ?int $Orden = null,
        public ?string $SubTotalMontoGravadoTotal = null,
        public ?string $SubTotalMontoGravadoI1 = null,
        public ?string $SubTotalMontoGravadoI2 = null,
        public ?string $SubTotalMontoGravadoI3 = null,
        public ?string $SubTotaITBIS = null,
        public ?string $SubTotaITBIS1 = null,
        public ?string $SubTotaITBIS2 = null,
        public ?string $SubTotaITBIS3 = null,
        public ?string $SubTotalImpuestoAdicional = null,
        public ?string $SubTotalExento = null,
        public ?string $MontoSubTotal = null,
        public ?int $Lineas = null,
    ) {
    }
}

final readonly class EcfSubtotalImpuestoAdicional extends Request
{
    public function __construct(
        public ?string $SubtotalImpuestoSelectivoConsumoEspecificoPagina = null,
        public ?string $SubtotalOtrosImpuesto = null,
    ) {
    }
}

final readonly class EcfSubtotales extends Request
{
    public function __construct(
        /** @var list<EcfSubtotal> */
        public array $Subtotal,
    ) {
    }
}

final readonly class EcfTablaCodigosItem extends Request
{
    public function __construct(
        /** @var list<EcfCodigosItem> */
        public array $CodigosItem,
    ) {
    }
}

final readonly class EcfTablaFormasPago extends Request
{
    public function __construct(
        /** @var list<EcfFormaDePago> */
        public array $FormaDePago,
    ) {
    }
}

final readonly class EcfTablaImpuestoAdicional extends Request
{
    public function __construct(
        /** @var list<EcfItemImpuestoAdicional> */
        public array $ImpuestoAdicional,
    ) {
    }
}

final readonly class EcfTablaSubDescuento extends Request
{
    public function __construct(
        /** @var list<EcfSubDescuento> */
        public array $SubDescuento,
    ) {
    }
}

final readonly class EcfTablaSubRecargo extends Request
{
    public function __construct(
        /** @var list<EcfSubRecargo> */
        public array $SubRecargo,
    ) {
    }
}

final readonly class EcfTablaSubcantidad extends Request
{
    public function __construct(
        /** @var list<EcfSubcantidadItem> */
        public array $SubcantidadItem,
    ) {
    }
}

final readonly class EcfTablaTelefonoEmisor extends Request
{
    public function __construct(
        /** @var list<string> */
        public array $TelefonoEmisor,
    ) {
    }
}

final readonly class EcfTotales extends Request
{
    public function __construct(
        public ?string $MontoGravadoTotal = null,
        public ?string $MontoGravadoI1 = null,
        public ?string $MontoGravadoI2 = null,
        public ?string $MontoGravadoI3 = null,
        public ?string $MontoExento = null,
        public ?int $ITBIS1 = null,
        public ?int $ITBIS2 = null,
        public ?int $ITBIS3 = null,
        public ?string $TotalITBIS = null,
        public ?string $TotalITBIS1 = null,
        public ?string $TotalITBIS2 = null,
        public ?string $TotalITBIS3 = null,
        public ?string $MontoImpuestoAdicional = null,
        public ?EcfImpuestosAdicionales $ImpuestosAdicionales = null,
        public ?string $MontoTotal = null,
        public ?string $MontoNoFacturable = null,
        public ?string $MontoPeriodo = null,
        public ?string $SaldoAnterior = null,
        public ?string $MontoAvancePago = null,
        public ?string $ValorPagar = null,
        public ?string $TotalITBISRetenido = null,
        public ?string $TotalISRRetencion = null,
        public ?string $TotalITBISPercepcion = null,
        public ?string $TotalISRPercepcion = null,
    ) {
    }
}

final readonly class EcfTotalesImpuestoAdicional extends Request
{
    public function __construct(
        public ?string $TipoImpuesto = null,
        public ?string $TasaImpuestoAdicional = null,
        public ?string $MontoImpuestoSelectivoConsumoEspecifico = null,
        public ?string $MontoImpuestoSelectivoConsumoAdvalorem = null,
        public ?string $OtrosImpuestosAdicionales = null,
    ) {
    }
}

final readonly class EcfTransporte extends Request
{
    public function __construct(
        public ?string $Conductor = null,
        public ?int $DocumentoTransporte = null,
        public ?string $Ficha = null,
        public ?string $Placa = null,
        public ?string $RutaTransporte = null,
        public ?string $ZonaTransporte = null,
        public ?string $NumeroAlbaran = null,
        public ?string $ViaTransporte = null,
        public ?string $PaisOrigen = null,
        public ?string $DireccionDestino = null,
        public ?string $PaisDestino = null,
        public ?string $RNCIdentificacionCompaniaTransportista = null,
        public ?string $NombreCompaniaTransportista = null,
        public ?string $NumeroViaje = null,
    ) {
    }
}

final readonly class EntryDeleted extends Answer
{
    public function __construct(
        public ?bool $ok = null,
        public ?string $id = null,
    ) {
    }
}

final readonly class EnvironmentHealth extends Answer
{
    protected const LISTS = ['outages' => OutageAnswer::class, 'lastHour' => ServiceHealth::class, 'lastDay' => ServiceHealth::class, 'pastOutages' => PastOutage::class];

    public function __construct(
        public ?string $environment = null,
        /** @var list<OutageAnswer>|null */
        public ?array $outages = null,
        /** @var list<ServiceHealth>|null */
        public ?array $lastHour = null,
        /** @var list<ServiceHealth>|null */
        public ?array $lastDay = null,
        /** @var list<PastOutage>|null */
        public ?array $pastOutages = null,
    ) {
    }
}

final readonly class Error extends Answer
{
    protected const LISTS = ['problems' => DocumentProblem::class];

    public function __construct(
        public ?string $message = null,
        public ?int $statusCode = null,
        public ?string $hint = null,
        /** @var list<DocumentProblem>|null */
        public ?array $problems = null,
    ) {
    }
}

final readonly class ExpenseAnswer extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $supplier = null,
        public ?string $eNCF = null,
        public ?string $kind = null,
        public ?string $isrType = null,
        public ?string $payment = null,
        public ?int $paidAfter = null,
        public ?string $paidOn = null,
        public ?string $itbis = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class ExpenseRequest extends Request
{
    public function __construct(
        public string $kind,
        public ?string $eNCF = null,
        public ?string $isrType = null,
        public ?string $payment = null,
        public ?int $paidAfter = null,
        public ?string $paidOn = null,
        public ?string $itbis = null,
    ) {
    }
}

final readonly class ExplainedMessage extends Answer
{
    public function __construct(
        public ?string $codigo = null,
        public ?string $meaning = null,
        public ?string $action = null,
    ) {
    }
}

final readonly class FailedRequestAnswer extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $at = null,
        public ?string $environment = null,
        public ?string $apiKeyId = null,
        public ?string $requestId = null,
        public ?string $method = null,
        public ?string $route = null,
        public ?string $path = null,
        public ?int $status = null,
        public ?int $durationMs = null,
        public ?string $message = null,
        public ?string $messageEs = null,
        public ?string $body = null,
    ) {
    }
}

final readonly class FailedRequestsAnswer extends Answer
{
    protected const LISTS = ['items' => FailedRequestAnswer::class];

    public function __construct(
        public ?int $limit = null,
        /** @var list<FailedRequestAnswer>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class GivenAhead extends Request
{
    public function __construct(
        public int $minSequence,
        public int $maxSequence,
        public ?string $expireAt = null,
    ) {
    }
}

final readonly class Handing extends Answer
{
    public function __construct(
        public ?string $state = null,
        public ?string $reason = null,
        public ?string $at = null,
    ) {
    }
}

final readonly class ImportAnswer extends Answer
{
    protected const LISTS = ['types' => ImportedType::class, 'faults' => ImportFault::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $importId = null,
        public ?string $environment = null,
        public ?string $name = null,
        public ?string $state = null,
        public ?string $createdAt = null,
        public ?int $receipts = null,
        public ?int $waiting = null,
        public ?int $valid = null,
        public ?int $faulty = null,
        public ?int $issued = null,
        public ?int $issuedBefore = null,
        public ?int $failed = null,
        /** @var list<ImportedType>|null */
        public ?array $types = null,
        public ?string $montoTotal = null,
        /** @var list<string>|null */
        public ?array $notes = null,
        /** @var list<ImportFault>|null */
        public ?array $faults = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class ImportFault extends Answer
{
    public function __construct(
        public ?int $row = null,
        public ?string $column = null,
        public ?string $heading = null,
        public ?string $message = null,
        public ?string $messageEs = null,
    ) {
    }
}

final readonly class ImportRequest extends Request
{
    public function __construct(
        public string $name,
        public string $content,
    ) {
    }
}

final readonly class ImportedType extends Answer
{
    public function __construct(
        public ?string $prefix = null,
        public ?int $receipts = null,
        public ?string $montoTotal = null,
    ) {
    }
}

final readonly class IncidentAnswer extends Answer
{
    public function __construct(
        public ?string $state = null,
        public ?string $since = null,
        public ?string $until = null,
    ) {
    }
}

final readonly class IncompletePurchase extends Answer
{
    public function __construct(
        public ?string $supplier = null,
        public ?string $supplierName = null,
        public ?string $eNCF = null,
        public ?string $issuedOn = null,
        /** @var list<string>|null */
        public ?array $missing = null,
        public ?string $message = null,
        public ?string $messageEs = null,
    ) {
    }
}

final readonly class InvoicePreview extends Answer
{
    protected const LISTS = ['problems' => DocumentProblem::class];

    public function __construct(
        public ?bool $valid = null,
        /** @var list<DocumentProblem>|null */
        public ?array $problems = null,
        public ?string $tipoEcf = null,
        public ?string $montoTotal = null,
        public ?string $totalITBIS = null,
        public ?string $rncComprador = null,
        public ?string $razonSocialComprador = null,
        public ?string $fechaEmision = null,
        public ?string $eNCF = null,
        /** @var array<string, mixed>|null */
        public ?array $payload = null,
        public ?string $xml = null,
    ) {
    }
}

final readonly class IssuedOfMonth extends Answer
{
    public function __construct(
        public ?string $tipoEcf = null,
        public ?string $status = null,
        public ?int $receipts = null,
        public ?string $montoTotal = null,
        public ?string $totalITBIS = null,
        public ?string $taxed18 = null,
        public ?string $itbis18 = null,
        public ?string $taxed16 = null,
        public ?string $itbis16 = null,
        public ?string $taxed0 = null,
        public ?string $exempt = null,
        public ?string $itbisWithheld = null,
        public ?string $isrWithheld = null,
        public ?int $withoutAmounts = null,
    ) {
    }
}

final readonly class Lease extends Answer
{
    protected const LISTS = ['sequences' => NumberSequence::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $agentId = null,
        public ?string $environment = null,
        public ?int $epoch = null,
        /** @var array<string, mixed>|null */
        public ?array $issuer = null,
        public ?string $consumerSummary = null,
        public ?string $ecfHost = null,
        public ?string $fcHost = null,
        /** @var list<NumberSequence>|null */
        public ?array $sequences = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class LeaseRequest extends Request
{
    public function __construct(
        public int $epoch,
        public string $nonce,
        public ?string $certificate = null,
    ) {
    }
}

final readonly class LoginRequest extends Request
{
    public function __construct(
        public string $apiKeyId,
        public string $apiSecret,
    ) {
    }
}

final readonly class MailSettingsAnswer extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?bool $enabled = null,
        public ?string $replyTo = null,
        public ?string $language = null,
        public ?string $documents = null,
        public ?int $aDay = null,
        public ?int $aDayAllowed = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class MailSettingsRequest extends Request
{
    public function __construct(
        public bool $enabled,
        public ?string $replyTo = null,
        public ?string $language = null,
        public ?string $documents = null,
        public ?int $aDay = null,
    ) {
    }
}

final readonly class Mailing extends Answer
{
    public function __construct(
        public ?string $state = null,
        public ?string $at = null,
        public ?string $address = null,
        public ?string $reason = null,
    ) {
    }
}

final readonly class ModeAnswer extends Answer
{
    protected const LISTS = ['outages' => OutageAnswer::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $environment = null,
        public ?string $mode = null,
        public ?string $since = null,
        /** @var list<OutageAnswer>|null */
        public ?array $outages = null,
        public ?string $reason = null,
        public ?string $number = null,
        public ?string $validUntil = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class ModeRequest extends Request
{
    public function __construct(
        public string $mode,
        public string $reason,
    ) {
    }
}

final readonly class MonthAnswer extends Answer
{
    protected const LISTS = ['issued' => IssuedOfMonth::class, 'received' => ReceivedOfMonth::class, 'numbers' => NumbersOfMonth::class, 'sequences' => SequenceOfMonth::class];

    public function __construct(
        public ?string $month = null,
        public ?string $environment = null,
        public ?MonthTotalsAnswer $totals = null,
        /** @var list<IssuedOfMonth>|null */
        public ?array $issued = null,
        /** @var list<ReceivedOfMonth>|null */
        public ?array $received = null,
        /** @var list<NumbersOfMonth>|null */
        public ?array $numbers = null,
        /** @var list<SequenceOfMonth>|null */
        public ?array $sequences = null,
        public ?bool $isComplete = null,
    ) {
    }
}

final readonly class MonthTotalsAnswer extends Answer
{
    public function __construct(
        public ?string $sales = null,
        public ?string $itbisCharged = null,
        public ?string $taxed18 = null,
        public ?string $taxed16 = null,
        public ?string $taxed0 = null,
        public ?string $exempt = null,
        public ?string $ownPurchases = null,
        public ?string $itbisWithheld = null,
        public ?string $isrWithheld = null,
        public ?string $received = null,
        public ?string $itbisPaid = null,
    ) {
    }
}

final readonly class NewGoblInvoice extends Request
{
    public function __construct(
        public string $format,
        /** @var array<string, mixed> */
        public array $payload,
        public ?string $clientRequestId = null,
        public ?string $asUser = null,
        public ?string $asUserId = null,
        public ?bool $keepSignature = null,
        public ?bool $strict = null,
        public ?Simulate $simulate = null,
        public ?string $sequence = null,
        public ?string $notify = null,
        /** @var array<string, mixed>|null */
        public ?array $metadata = null,
    ) {
    }
}

final readonly class NewSequence extends Request
{
    public function __construct(
        public string $prefix,
        public ?int $minSequence = null,
        public ?int $maxSequence = null,
        public ?string $expireAt = null,
        public ?bool $isActive = null,
        /** @var list<string>|null */
        public ?array $users = null,
        public ?string $agentId = null,
        public ?GivenAhead $nextRange = null,
        public ?string $name = null,
    ) {
    }
}

final readonly class NewStructuredInvoice extends Request
{
    public function __construct(
        public string $format,
        public mixed $payload,
        public ?string $clientRequestId = null,
        public ?string $asUser = null,
        public ?string $asUserId = null,
        public ?bool $keepSignature = null,
        public ?bool $strict = null,
        public ?Simulate $simulate = null,
        public ?string $sequence = null,
        public ?string $notify = null,
        /** @var array<string, mixed>|null */
        public ?array $metadata = null,
    ) {
    }
}

final readonly class NewXmlInvoice extends Request
{
    public function __construct(
        public string $format,
        public string $xml,
        public ?string $clientRequestId = null,
        public ?string $asUser = null,
        public ?string $asUserId = null,
        public ?bool $keepSignature = null,
        public ?bool $strict = null,
        public ?Simulate $simulate = null,
        public ?string $sequence = null,
        public ?string $notify = null,
        /** @var array<string, mixed>|null */
        public ?array $metadata = null,
    ) {
    }
}

final readonly class NotFound extends Answer
{
    public function __construct(
        public ?bool $found = null,
        public ?string $hint = null,
    ) {
    }
}

final readonly class NumberGapAnswer extends Answer
{
    public function __construct(
        public ?string $first = null,
        public ?string $last = null,
    ) {
    }
}

final readonly class NumberRangeAnswer extends Answer
{
    public function __construct(
        public ?string $first = null,
        public ?string $last = null,
    ) {
    }
}

final readonly class NumberSequence extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $id = null,
        public ?string $type = null,
        public ?string $prefix = null,
        public ?string $description = null,
        public ?string $minSequence = null,
        public ?string $maxSequence = null,
        public ?string $currentSequence = null,
        public ?bool $isActive = null,
        public ?string $expireAt = null,
        public ?string $expireOn = null,
        public ?string $pausedAt = null,
        public ?string $pausedFor = null,
        public ?string $name = null,
        /** @var list<string>|null */
        public ?array $users = null,
        public ?string $agentId = null,
        public ?RangeAhead $nextRange = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class NumbersOfMonth extends Answer
{
    protected const LISTS = ['gaps' => NumberGapAnswer::class];

    public function __construct(
        public ?string $prefix = null,
        public ?string $first = null,
        public ?string $last = null,
        public ?int $drawn = null,
        public ?int $accepted = null,
        public ?int $rejected = null,
        public ?int $failed = null,
        public ?int $others = null,
        public ?int $withoutReceipt = null,
        public ?int $void = null,
        /** @var list<NumberGapAnswer>|null */
        public ?array $gaps = null,
    ) {
    }
}

final readonly class OutageAnswer extends Answer
{
    public function __construct(
        public ?string $host = null,
        public ?string $since = null,
    ) {
    }
}

final readonly class PaperContent extends Request
{
    public function __construct(
        /** @var array<string, mixed> */
        public array $payload,
        public ?string $issuedOn = null,
    ) {
    }
}

final readonly class PaperEntered extends Answer
{
    protected const LISTS = ['problems' => DocumentProblem::class];

    public function __construct(
        public ?int $statusCode = null,
        public ?string $message = null,
        public ?string $ncf = null,
        public ?PaperReceiptAnswer $receipt = null,
        /** @var list<DocumentProblem>|null */
        public ?array $problems = null,
    ) {
    }
}

final readonly class PaperEnteredAnswer extends Answer
{
    protected const LISTS = ['items' => PaperEntered::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        /** @var list<PaperEntered>|null */
        public ?array $items = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class PaperRangeAnswer extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $rangeId = null,
        public ?string $environment = null,
        public ?string $first = null,
        public ?string $last = null,
        public ?string $next = null,
        public ?string $expiresOn = null,
        public ?string $recordedAt = null,
        public ?string $recordedBy = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class PaperRangeDeleted extends Answer
{
    public function __construct(
        public ?bool $ok = null,
        public ?string $rangeId = null,
    ) {
    }
}

final readonly class PaperRangeRequest extends Request
{
    public function __construct(
        public string $first,
        public string $last,
        public string $expiresOn,
    ) {
    }
}

final readonly class PaperRangesAnswer extends Answer
{
    protected const LISTS = ['items' => PaperRangeAnswer::class];

    public function __construct(
        /** @var list<PaperRangeAnswer>|null */
        public ?array $items = null,
    ) {
    }
}

final readonly class PaperReceiptAnswer extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $ncf = null,
        public ?string $environment = null,
        public ?string $issuedOn = null,
        public ?string $expiresOn = null,
        public ?string $contingency = null,
        public ?string $buyerRnc = null,
        public ?string $buyerName = null,
        public ?string $total = null,
        public ?string $itbis = null,
        public ?string $state = null,
        public ?string $replaceBy = null,
        public ?string $taxLogId = null,
        public ?string $eNCF = null,
        public ?string $replacedAt = null,
        public ?string $clientRequestId = null,
        public ?string $enteredAt = null,
        public ?string $enteredBy = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class PaperReceiptRequest extends Request
{
    public function __construct(
        /** @var array<string, mixed> */
        public array $payload,
        public ?string $issuedOn = null,
        public ?string $ncf = null,
        public ?string $clientRequestId = null,
    ) {
    }
}

final readonly class PaperReceiptsAnswer extends Answer
{
    protected const LISTS = ['items' => PaperReceiptAnswer::class];

    public function __construct(
        /** @var list<PaperReceiptAnswer>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class PaperReceiptsRequest extends Request
{
    public function __construct(
        /** @var list<PaperReceiptRequest> */
        public array $receipts,
    ) {
    }
}

final readonly class PartStatus extends Answer
{
    protected const LISTS = ['days' => DayStatus::class, 'incidents' => IncidentAnswer::class];

    public function __construct(
        public ?string $part = null,
        public ?string $state = null,
        public ?string $since = null,
        /** @var list<DayStatus>|null */
        public ?array $days = null,
        /** @var list<IncidentAnswer>|null */
        public ?array $incidents = null,
    ) {
    }
}

final readonly class PastOutage extends Answer
{
    public function __construct(
        public ?string $host = null,
        public ?string $since = null,
        public ?string $until = null,
    ) {
    }
}

final readonly class PrefixName extends Answer
{
    public function __construct(
        public ?string $code = null,
        public ?string $name = null,
        public ?string $nameEs = null,
    ) {
    }
}

final readonly class PreviewAnswer extends Answer
{
    public function __construct(
        public ?string $dueOn = null,
        public ?string $type = null,
        public ?string $buyerName = null,
        public ?string $buyerRnc = null,
        public ?string $total = null,
        public ?string $itbis = null,
        public ?string $reason = null,
        /** @var list<string>|null */
        public ?array $messages = null,
    ) {
    }
}

final readonly class PrintManyRequest extends Request
{
    public function __construct(
        /** @var list<string> */
        public array $ids,
    ) {
    }
}

final readonly class PrintSettingsAnswer extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $logo = null,
        public ?string $accent = null,
        public ?string $footer = null,
        /** @var list<string>|null */
        public ?array $marks = null,
        public ?string $language = null,
        public ?string $layout = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class PrintSettingsRequest extends Request
{
    public function __construct(
        public ?string $logo = null,
        public ?string $accent = null,
        public ?string $footer = null,
        /** @var list<string>|null */
        public ?array $marks = null,
        public ?string $language = null,
        public ?string $layout = null,
    ) {
    }
}

final readonly class ProbeEvent extends Answer
{
    public function __construct(
        public ?string $event = null,
        public ?string $sentAt = null,
        public ?ProbeMessage $test = null,
    ) {
    }
}

final readonly class ProbeMessage extends Answer
{
    public function __construct(
        public ?string $message = null,
    ) {
    }
}

final readonly class ProblemRepair extends Answer
{
    public function __construct(
        public ?string $op = null,
        public ?string $path = null,
        public ?bool $certain = null,
        public mixed $value = null,
        public ?string $to = null,
    ) {
    }
}

final readonly class ProductItem extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $id = null,
        public ?string $name = null,
        public ?string $code = null,
        public ?string $unit = null,
        public ?string $price = null,
        public ?bool $priceHasItbis = null,
        public ?string $itbis = null,
        public ?string $kind = null,
        /** @var list<string>|null */
        public ?array $additionalTaxes = null,
        public ?string $source = null,
        public ?int $version = null,
        public ?string $changedAt = null,
        public ?string $usedAt = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class ProductList extends Answer
{
    protected const LISTS = ['items' => ProductItem::class];

    public function __construct(
        public ?int $limit = null,
        /** @var list<ProductItem>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class ProductRequest extends Request
{
    public function __construct(
        public string $name,
        public ?string $code = null,
        public ?string $unit = null,
        public ?string $price = null,
        public ?bool $priceHasItbis = null,
        public ?string $itbis = null,
        public ?string $kind = null,
        /** @var list<string>|null */
        public ?array $additionalTaxes = null,
        public ?int $version = null,
    ) {
    }
}

final readonly class ProposalsAnswer extends Answer
{
    protected const LISTS = ['items' => ProposedRange::class];

    public function __construct(
        /** @var list<ProposedRange>|null */
        public ?array $items = null,
    ) {
    }
}

final readonly class ProposedRange extends Answer
{
    public function __construct(
        public ?string $first = null,
        public ?string $last = null,
        public ?int $numbers = null,
        public ?string $why = null,
    ) {
    }
}

final readonly class PurchasesAnswer extends Answer
{
    protected const LISTS = ['missing' => IncompletePurchase::class, 'remarks' => PurchasesRemark::class];

    public function __construct(
        public ?string $month = null,
        public ?string $environment = null,
        public ?string $fileName = null,
        public ?int $rows = null,
        public ?int $incomplete = null,
        /** @var list<IncompletePurchase>|null */
        public ?array $missing = null,
        /** @var list<PurchasesRemark>|null */
        public ?array $remarks = null,
        public ?string $content = null,
    ) {
    }
}

final readonly class PurchasesRemark extends Answer
{
    public function __construct(
        public ?string $code = null,
        public ?int $receipts = null,
        public ?string $message = null,
        public ?string $messageEs = null,
    ) {
    }
}

final readonly class RangeAhead extends Answer
{
    public function __construct(
        public ?string $minSequence = null,
        public ?string $maxSequence = null,
        public ?string $expireAt = null,
        public ?string $expireOn = null,
    ) {
    }
}

final readonly class ReceivedApproval extends Answer
{
    public function __construct(
        public ?string $decision = null,
        public ?string $taxLogId = null,
        public ?string $decidedAt = null,
        public ?ApprovalAtAuthority $authority = null,
        public ?string $reason = null,
        public ?Handing $issuer = null,
    ) {
    }
}

final readonly class ReceivedEcf extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $encf = null,
        public ?string $tipoEcf = null,
        public ?string $rncEmisor = null,
        public ?string $rncComprador = null,
        public ?string $montoTotal = null,
        public ?string $fechaEmision = null,
        public ?string $approvalStatus = null,
        public ?string $receivedAt = null,
    ) {
    }
}

final readonly class ReceivedEcfEvent extends Answer
{
    public function __construct(
        public ?string $event = null,
        public ?string $sentAt = null,
        public ?ReceivedEcf $receivedEcf = null,
        public ?string $xml = null,
    ) {
    }
}

final readonly class ReceivedItem extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $environment = null,
        public ?string $encf = null,
        public ?string $tipoEcf = null,
        public ?string $rncEmisor = null,
        public ?string $razonSocialEmisor = null,
        public ?string $rncComprador = null,
        public ?string $montoTotal = null,
        public ?string $fechaEmision = null,
        public ?string $approvalStatus = null,
        public ?string $receivedAt = null,
        public ?ReceivedApproval $approval = null,
    ) {
    }
}

final readonly class ReceivedOfMonth extends Answer
{
    public function __construct(
        public ?string $tipoEcf = null,
        public ?int $receipts = null,
        public ?string $montoTotal = null,
        public ?string $totalITBIS = null,
        public ?int $rejected = null,
    ) {
    }
}

final readonly class ReceivedPage extends Answer
{
    protected const LISTS = ['items' => ReceivedItem::class];

    public function __construct(
        public ?int $page = null,
        public ?int $limit = null,
        public ?int $total = null,
        /** @var list<ReceivedItem>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class ReceivedStretch extends Answer
{
    protected const LISTS = ['items' => ReceivedItem::class];

    public function __construct(
        public ?int $limit = null,
        /** @var list<ReceivedItem>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class ReceivedXml extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $environment = null,
        public ?string $xml = null,
        public ?string $acknowledgement = null,
    ) {
    }
}

final readonly class Recoveries extends Answer
{
    protected const LISTS = ['items' => Recovery::class];

    public function __construct(
        /** @var list<Recovery>|null */
        public ?array $items = null,
    ) {
    }
}

final readonly class Recovery extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $id = null,
        public ?string $webhookId = null,
        public ?string $since = null,
        public ?string $until = null,
        public ?string $state = null,
        public ?int $recovered = null,
        public ?string $askedAt = null,
        public ?string $finishedAt = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class RecoveryRequest extends Request
{
    public function __construct(
        public string $since,
        public ?string $endpoint = null,
    ) {
    }
}

final readonly class RecurringAnswer extends Answer
{
    protected const LISTS = ['turns' => RecurringTurn::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $id = null,
        public ?string $name = null,
        public ?string $status = null,
        public ?int $day = null,
        public ?int $everyMonths = null,
        public ?string $nextOn = null,
        public ?int $held = null,
        public ?int $version = null,
        public ?string $changedAt = null,
        public ?string $environment = null,
        public ?string $startsOn = null,
        public ?string $endsOn = null,
        /** @var list<string>|null */
        public ?array $nextDays = null,
        public ?string $customer = null,
        public ?int $paymentDays = null,
        /** @var array<string, mixed>|null */
        public ?array $payload = null,
        public ?string $asUser = null,
        public ?string $asUserId = null,
        public ?string $notify = null,
        public ?string $sequence = null,
        public ?PreviewAnswer $preview = null,
        /** @var list<RecurringTurn>|null */
        public ?array $turns = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class RecurringDeleted extends Answer
{
    public function __construct(
        public ?bool $ok = null,
        public ?string $id = null,
    ) {
    }
}

final readonly class RecurringHeld extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $name = null,
        public ?string $environment = null,
        public ?string $dueOn = null,
        public ?string $reason = null,
        /** @var list<string>|null */
        public ?array $messages = null,
        /** @var list<string>|null */
        public ?array $messagesEs = null,
    ) {
    }
}

final readonly class RecurringHeldEvent extends Answer
{
    public function __construct(
        public ?string $event = null,
        public ?string $sentAt = null,
        public ?RecurringHeld $recurring = null,
    ) {
    }
}

final readonly class RecurringList extends Answer
{
    protected const LISTS = ['items' => RecurringSummary::class];

    public function __construct(
        public ?int $limit = null,
        /** @var list<RecurringSummary>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
    ) {
    }
}

final readonly class RecurringPreview extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $name = null,
        public ?string $environment = null,
        public ?string $dueOn = null,
        public ?string $type = null,
        public ?string $buyerName = null,
        public ?string $buyerRnc = null,
        public ?string $total = null,
        public ?string $itbis = null,
        public ?string $reason = null,
        /** @var list<string>|null */
        public ?array $messages = null,
        /** @var list<string>|null */
        public ?array $messagesEs = null,
    ) {
    }
}

final readonly class RecurringPreviewEvent extends Answer
{
    public function __construct(
        public ?string $event = null,
        public ?string $sentAt = null,
        public ?RecurringPreview $recurring = null,
    ) {
    }
}

final readonly class RecurringRequest extends Request
{
    public function __construct(
        public string $name,
        public int $day,
        /** @var array<string, mixed> */
        public array $payload,
        public ?int $everyMonths = null,
        public ?string $startsOn = null,
        public ?string $endsOn = null,
        public ?string $status = null,
        public ?string $customer = null,
        public ?int $paymentDays = null,
        public ?string $asUser = null,
        public ?string $asUserId = null,
        public ?string $notify = null,
        public ?string $sequence = null,
        public ?int $version = null,
    ) {
    }
}

final readonly class RecurringSummary extends Answer
{
    public function __construct(
        public ?string $id = null,
        public ?string $name = null,
        public ?string $status = null,
        public ?int $day = null,
        public ?int $everyMonths = null,
        public ?string $nextOn = null,
        public ?int $held = null,
        public ?int $version = null,
        public ?string $changedAt = null,
    ) {
    }
}

final readonly class RecurringTurn extends Answer
{
    public function __construct(
        public ?string $month = null,
        public ?string $dueOn = null,
        public ?string $status = null,
        public ?string $reason = null,
        /** @var list<string>|null */
        public ?array $messages = null,
        public ?string $triedAt = null,
        public ?string $retryAt = null,
        public ?string $clientRequestId = null,
        public ?string $taxLogId = null,
        public ?string $eNCF = null,
    ) {
    }
}

final readonly class RejectReceived extends Request
{
    public function __construct(
        public string $reason,
        public ?string $clientRequestId = null,
        public ?string $asUser = null,
        public ?string $asUserId = null,
    ) {
    }
}

final readonly class ReplacementItem extends Answer
{
    protected const LISTS = ['problems' => DocumentProblem::class];

    public function __construct(
        public ?string $ncf = null,
        public ?string $state = null,
        public ?bool $issued = null,
        public ?string $taxLogId = null,
        public ?string $eNCF = null,
        /** @var list<DocumentProblem>|null */
        public ?array $problems = null,
    ) {
    }
}

final readonly class ReplacementsAnswer extends Answer
{
    protected const LISTS = ['items' => ReplacementItem::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        /** @var list<ReplacementItem>|null */
        public ?array $items = null,
        public ?int $open = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class ReplacementsRequest extends Request
{
    public function __construct(
        /** @var list<string>|null */
        public ?array $ncfs = null,
    ) {
    }
}

final readonly class RevokedAnswer extends Answer
{
    public function __construct(
        public ?bool $ok = null,
        public ?bool $revoked = null,
    ) {
    }
}

final readonly class Rfce extends Request
{
    public function __construct(
        public RfceEncabezado $Encabezado,
    ) {
    }
}

final readonly class RfceComprador extends Request
{
    public function __construct(
        public ?string $RNCComprador = null,
        public ?string $IdentificadorExtranjero = null,
        public ?string $RazonSocialComprador = null,
    ) {
    }
}

final readonly class RfceEmisor extends Request
{
    public function __construct(
        public ?string $RNCEmisor = null,
        public ?string $RazonSocialEmisor = null,
        public ?string $FechaEmision = null,
    ) {
    }
}

final readonly class RfceEncabezado extends Request
{
    public function __construct(
        public RfceIdDoc $IdDoc,
        public RfceTotales $Totales,
        public string $CodigoSeguridadeCF,
        public ?string $Version = null,
        public ?RfceEmisor $Emisor = null,
        public ?RfceComprador $Comprador = null,
    ) {
    }
}

final readonly class RfceFormaDePago extends Request
{
    public function __construct(
        public ?string $FormaPago = null,
        public ?string $MontoPago = null,
    ) {
    }
}

final readonly class RfceIdDoc extends Request
{
    public function __construct(
        public string $eNCF,
        public string $TipoIngresos,
        public string $TipoPago,
        public ?string $TipoeCF = null,
        public ?RfceTablaFormasPago $TablaFormasPago = null,
    ) {
    }
}

final readonly class RfceImpuestoAdicional extends Request
{
    public function __construct(
        public ?string $TipoImpuesto = null,
        public ?string $MontoImpuestoSelectivoConsumoEspecifico = null,
        public ?string $MontoImpuestoSelectivoConsumoAdvalorem = null,
        public ?string $OtrosImpuestosAdicionales = null,
    ) {
    }
}

final readonly class RfceImpuestosAdicionales extends Request
{
    public function __construct(
        /** @var list<RfceImpuestoAdicional>|null */
        public ?array $ImpuestoAdicional = null,
    ) {
    }
}

final readonly class RfcePayload extends Request
{
    public function __construct(
        public Rfce $RFCE,
    ) {
    }
}

final readonly class RfceTablaFormasPago extends Request
{
    public function __construct(
        /** @var list<RfceFormaDePago>|null */
        public ?array $FormaDePago = null,
    ) {
    }
}

final readonly class RfceTotales extends Request
{
    public function __construct(
        public string $MontoTotal,
        public ?string $MontoGravadoTotal = null,
        public ?string $MontoGravadoI1 = null,
        public ?string $MontoGravadoI2 = null,
        public ?string $MontoGravadoI3 = null,
        public ?string $MontoExento = null,
        public ?string $TotalITBIS = null,
        public ?string $TotalITBIS1 = null,
        public ?string $TotalITBIS2 = null,
        public ?string $TotalITBIS3 = null,
        public ?string $MontoImpuestoAdicional = null,
        public ?RfceImpuestosAdicionales $ImpuestosAdicionales = null,
        public ?string $MontoNoFacturable = null,
        public ?string $MontoPeriodo = null,
    ) {
    }
}

final readonly class SandboxApproval extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $taxLogId = null,
        public ?string $eNCF = null,
        public ?string $decision = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class SandboxApprovalRequest extends Request
{
    public function __construct(
        public string $taxLogId,
        public string $decision,
        public ?string $reason = null,
    ) {
    }
}

final readonly class SandboxOutage extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $environment = null,
        public ?string $since = null,
        public ?string $until = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class SandboxOutageRequest extends Request
{
    public function __construct(
        public int $seconds,
    ) {
    }
}

final readonly class SandboxReceipt extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $receivedId = null,
        public ?string $rncEmisor = null,
        public ?string $eNCF = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class SandboxReceiptRequest extends Request
{
    public function __construct(
        public ?string $eNCF = null,
    ) {
    }
}

final readonly class SequenceEvent extends Answer
{
    public function __construct(
        public ?string $event = null,
        public ?string $sentAt = null,
        public ?SequenceState $sequence = null,
    ) {
    }
}

final readonly class SequenceOfMonth extends Answer
{
    public function __construct(
        public ?string $prefix = null,
        public ?string $name = null,
        public ?int $receipts = null,
        public ?string $montoTotal = null,
        public ?string $first = null,
        public ?string $last = null,
    ) {
    }
}

final readonly class SequenceState extends Answer
{
    public function __construct(
        public ?string $environment = null,
        public ?string $prefix = null,
        public ?string $currentSequence = null,
        public ?string $maxSequence = null,
        public ?string $remaining = null,
        public ?string $expireOn = null,
        public ?string $name = null,
    ) {
    }
}

final readonly class Sequences extends Answer
{
    protected const LISTS = ['availableTypes' => PrefixName::class, 'items' => NumberSequence::class];

    public function __construct(
        /** @var list<PrefixName>|null */
        public ?array $availableTypes = null,
        /** @var list<NumberSequence>|null */
        public ?array $items = null,
    ) {
    }
}

final readonly class ServiceHealth extends Answer
{
    public function __construct(
        public ?string $service = null,
        public ?int $answered = null,
        public ?int $failed = null,
        public ?int $averageMs = null,
        public ?int $slowestMs = null,
    ) {
    }
}

final readonly class SharedAnswer extends Answer
{
    public function __construct(
        public ?string $url = null,
        public ?string $sharedAt = null,
    ) {
    }
}

final readonly class Simulate extends Request
{
    public function __construct(
        public ?string $outcome = null,
        public ?int $code = null,
        public ?int $seconds = null,
        public ?string $now = null,
    ) {
    }
}

final readonly class StatusAnswer extends Answer
{
    protected const LISTS = ['parts' => PartStatus::class];

    public function __construct(
        public ?string $state = null,
        public ?string $measuredAt = null,
        /** @var list<PartStatus>|null */
        public ?array $parts = null,
    ) {
    }
}

final readonly class Submission extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class, 'explained' => ExplainedMessage::class];

    public function __construct(
        public ?string $taxLogId = null,
        public ?string $environment = null,
        public ?string $status = null,
        public ?string $qrCodeUrl = null,
        public ?string $securityCode = null,
        public ?string $ncfExpiration = null,
        public ?string $fechaHoraFirma = null,
        /** @var array<string, mixed>|null */
        public ?array $response = null,
        public ?string $submittedAt = null,
        public ?string $updatedAt = null,
        public ?string $clientRequestId = null,
        public ?string $tipoEcf = null,
        public ?string $montoTotal = null,
        public ?string $totalITBIS = null,
        public ?string $rncComprador = null,
        public ?string $razonSocialComprador = null,
        public ?string $fechaEmision = null,
        public ?bool $readyToPrint = null,
        public ?SubmissionFacts $facts = null,
        public ?string $trackId = null,
        public ?string $eNCF = null,
        public ?string $numberFate = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
        /** @var list<ExplainedMessage>|null */
        public ?array $explained = null,
        public ?string $approvalStatus = null,
        public ?string $approvalReason = null,
        public ?string $approvalAt = null,
        public ?Handing $receiver = null,
        public ?Mailing $mail = null,
        public ?string $replacesNcf = null,
        public ?bool $archived = null,
        /** @var array<string, mixed>|null */
        public ?array $metadata = null,
        public ?string $legend = null,
    ) {
    }
}

final readonly class SubmissionEvent extends Answer
{
    public function __construct(
        public ?string $event = null,
        public ?string $sentAt = null,
        public ?SubmissionSummary $submission = null,
    ) {
    }
}

final readonly class SubmissionFacts extends Answer
{
    public function __construct(
        public ?string $signedAt = null,
        public ?string $sendBy = null,
        public ?string $receivedAt = null,
        public ?string $verdictAt = null,
        public ?string $deliveredAt = null,
    ) {
    }
}

final readonly class SubmissionItem extends Answer
{
    public function __construct(
        public ?string $taxLogId = null,
        public ?string $environment = null,
        public ?string $status = null,
        public ?string $qrCodeUrl = null,
        public ?string $submittedAt = null,
        public ?string $updatedAt = null,
        public ?string $clientRequestId = null,
        public ?string $securityCode = null,
        public ?string $fechaHoraFirma = null,
        public ?string $tipoEcf = null,
        public ?string $montoTotal = null,
        public ?string $totalITBIS = null,
        public ?string $rncComprador = null,
        public ?string $razonSocialComprador = null,
        public ?string $fechaEmision = null,
        public ?bool $readyToPrint = null,
        public ?SubmissionFacts $facts = null,
        public ?string $trackId = null,
        public ?string $eNCF = null,
        /** @var array<string, mixed>|null */
        public ?array $metadata = null,
    ) {
    }
}

final readonly class SubmissionPage extends Answer
{
    protected const LISTS = ['items' => SubmissionItem::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        public ?int $page = null,
        public ?int $limit = null,
        public ?int $total = null,
        /** @var list<SubmissionItem>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class SubmissionStretch extends Answer
{
    protected const LISTS = ['items' => SubmissionItem::class, 'warnings' => DocumentProblem::class];

    public function __construct(
        public ?int $limit = null,
        /** @var list<SubmissionItem>|null */
        public ?array $items = null,
        public ?string $nextCursor = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class SubmissionSummary extends Answer
{
    public function __construct(
        public ?string $taxLogId = null,
        public ?string $clientRequestId = null,
        public ?string $environment = null,
        public ?string $status = null,
        public ?string $eNCF = null,
        public ?string $numberFate = null,
        public ?string $trackId = null,
        public ?string $securityCode = null,
        public ?string $qrCodeUrl = null,
        /** @var array<string, mixed>|null */
        public ?array $response = null,
        public ?string $updatedAt = null,
        public ?string $fechaHoraFirma = null,
        public ?string $tipoEcf = null,
        public ?string $montoTotal = null,
        public ?string $totalITBIS = null,
        public ?string $rncComprador = null,
        public ?string $razonSocialComprador = null,
        public ?string $fechaEmision = null,
        public ?bool $readyToPrint = null,
        /** @var array<string, mixed>|null */
        public ?array $metadata = null,
    ) {
    }
}

final readonly class SubmissionXml extends Answer
{
    public function __construct(
        public ?string $taxLogId = null,
        public ?string $environment = null,
        public ?string $status = null,
        public ?string $source = null,
        public ?string $xml = null,
    ) {
    }
}

final readonly class TaxpayerAnswer extends Answer
{
    public function __construct(
        public ?string $rnc = null,
        public ?string $name = null,
        public ?string $tradeName = null,
        public ?string $activity = null,
        public ?string $status = null,
        public ?bool $active = null,
        public ?string $regime = null,
    ) {
    }
}

final readonly class Timeline extends Answer
{
    protected const LISTS = ['events' => TimelineEvent::class];

    public function __construct(
        public ?string $taxLogId = null,
        public ?string $environment = null,
        public ?string $status = null,
        /** @var list<TimelineEvent>|null */
        public ?array $events = null,
    ) {
    }
}

final readonly class TimelineEvent extends Answer
{
    public function __construct(
        public ?int $seq = null,
        public ?string $at = null,
        public ?string $kind = null,
        /** @var array<string, mixed>|null */
        public ?array $detail = null,
    ) {
    }
}

final readonly class Token extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $accessToken = null,
        public ?string $tokenType = null,
        public ?int $expiresIn = null,
        public ?string $environment = null,
        /** @var list<string>|null */
        public ?array $scopes = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class TurnRequest extends Request
{
    public function __construct(
        public string $action,
    ) {
    }
}

final readonly class UsageItem extends Answer
{
    public function __construct(
        public ?string $date = null,
        public ?string $environment = null,
        public ?int $requestsTotal = null,
        public ?int $requestsSuccess = null,
        public ?int $requestsError = null,
        public ?int $emissionsSubmitted = null,
        public ?int $emissionsAccepted = null,
        public ?int $emissionsAcceptedConditional = null,
        public ?int $emissionsRejected = null,
        public ?int $emissionsPending = null,
        public ?string $bytesIn = null,
        public ?string $bytesOut = null,
        public ?int $avgLatencyMs = null,
        public ?int $p95LatencyMs = null,
    ) {
    }
}

final readonly class UsageReport extends Answer
{
    protected const LISTS = ['items' => UsageItem::class];

    public function __construct(
        public ?string $from = null,
        public ?string $to = null,
        /** @var list<UsageItem>|null */
        public ?array $items = null,
        public ?UsageToday $today = null,
    ) {
    }
}

final readonly class UsageToday extends Answer
{
    protected const LISTS = ['items' => UsageTodayItem::class];

    public function __construct(
        public ?string $date = null,
        public ?bool $isComplete = null,
        /** @var list<UsageTodayItem>|null */
        public ?array $items = null,
    ) {
    }
}

final readonly class UsageTodayItem extends Answer
{
    public function __construct(
        public ?string $environment = null,
        public ?int $emissionsSubmitted = null,
        public ?int $emissionsAccepted = null,
        public ?int $emissionsAcceptedConditional = null,
        public ?int $emissionsRejected = null,
        public ?int $emissionsPending = null,
    ) {
    }
}

final readonly class Validation extends Answer
{
    protected const LISTS = ['problems' => DocumentProblem::class];

    public function __construct(
        public ?bool $valid = null,
        /** @var list<DocumentProblem>|null */
        public ?array $problems = null,
    ) {
    }
}

final readonly class VoidedAnswer extends Answer
{
    public function __construct(
        public ?string $month = null,
        public ?string $environment = null,
        public ?string $fileName = null,
        public ?int $rows = null,
        public ?string $content = null,
    ) {
    }
}

final readonly class VoidingAnswer extends Answer
{
    protected const LISTS = ['ranges' => NumberRangeAnswer::class];

    public function __construct(
        public ?string $voidingId = null,
        public ?string $environment = null,
        public ?string $state = null,
        /** @var list<NumberRangeAnswer>|null */
        public ?array $ranges = null,
        public ?int $numbers = null,
        public ?int $reason = null,
        public ?string $clientRequestId = null,
        public ?string $requestedAt = null,
        public ?string $signedAt = null,
        public ?string $endedAt = null,
        public ?string $problem = null,
    ) {
    }
}

final readonly class VoidingRequest extends Request
{
    public function __construct(
        /** @var list<AskedRange> */
        public array $ranges,
        public int $reason,
        public ?string $clientRequestId = null,
    ) {
    }
}

final readonly class VoidingsAnswer extends Answer
{
    protected const LISTS = ['items' => VoidingAnswer::class];

    public function __construct(
        /** @var list<VoidingAnswer>|null */
        public ?array $items = null,
    ) {
    }
}

final readonly class Webhook extends Answer
{
    protected const LISTS = ['warnings' => DocumentProblem::class];

    public function __construct(
        public ?string $id = null,
        public ?string $environment = null,
        public ?string $name = null,
        public ?string $url = null,
        public ?bool $enabled = null,
        /** @var list<string>|null */
        public ?array $events = null,
        /** @var list<string>|null */
        public ?array $headers = null,
        public ?string $createdAt = null,
        public ?string $updatedAt = null,
        public ?string $failingSince = null,
        public ?string $disabledAt = null,
        public ?string $disabledReason = null,
        public ?string $oldSecretUntil = null,
        public ?string $secret = null,
        /** @var list<DocumentProblem>|null */
        public ?array $warnings = null,
    ) {
    }
}

final readonly class WebhookDeleted extends Answer
{
    public function __construct(
        public ?bool $ok = null,
        public ?string $name = null,
    ) {
    }
}

final readonly class WebhookRequest extends Request
{
    public function __construct(
        public string $url,
        public ?bool $enabled = null,
        /** @var list<string>|null */
        public ?array $events = null,
        /** @var array<string, mixed>|null */
        public ?array $headers = null,
    ) {
    }
}

final readonly class Webhooks extends Answer
{
    protected const LISTS = ['items' => Webhook::class];

    public function __construct(
        /** @var list<Webhook>|null */
        public ?array $items = null,
    ) {
    }
}
