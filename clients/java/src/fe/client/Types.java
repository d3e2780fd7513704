package fe.client;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What is answered, as records over its JSON, and what is sent, as builders. A member that is absent is null.
 *
 * <p>`from` reads an answer or a part of one; null of null.
 *
 * <p>Made from the service's description by `python -m clients.generate`: changes belong there.
 */
public final class Types {
    private Types() {}

    /** What is sent: a member that was not set is left out, and one that was set to null is sent as null. */
    public abstract static class Request<T extends Request<T>> {
        private final Map<String, Object> members = new LinkedHashMap<>();

        @SuppressWarnings("unchecked")
        final T put(String name, Object value) {
            members.put(name, value);
            return (T) this;
        }

        /** This as JSON. */
        public final Json json() {
            return Json.of(members);
        }
    }

    private static <T> T read(Json json, Function<Json, T> read) {
        return json == null || json.isNull() ? null : read.apply(json);
    }

    private static Long whole(Json json) {
        return json.amount() == null ? null : json.amount().longValue();
    }

    private static Boolean truth(Json json) {
        return json.isTrue() || json.isFalse() ? json.isTrue() : null;
    }

    private static <T> List<T> list(Json json, Function<Json, T> read) {
        return json.isNull() ? null : json.items().stream().map(read).toList();
    }

    public record AcceptedSubmission(Json json) {
        public static AcceptedSubmission from(Json json) { return read(json, AcceptedSubmission::new); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String status() { return json.get("status").text(); }
        public String environment() { return json.get("environment").text(); }
        public Boolean billable() { return truth(json.get("billable")); }
        public String message() { return json.get("message").text(); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public BigDecimal totalITBIS() { return json.get("totalITBIS").amount(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public String razonSocialComprador() { return json.get("razonSocialComprador").text(); }
        public String fechaEmision() { return json.get("fechaEmision").text(); }
        public Boolean readyToPrint() { return truth(json.get("readyToPrint")); }
        public String eNCF() { return json.get("eNCF").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class Acecf extends Request<Acecf> {
        public Acecf DetalleAprobacionComercial(AcecfDetalleAprobacionComercial value) { return put("DetalleAprobacionComercial", value); }
    }

    public static final class AcecfDetalleAprobacionComercial extends Request<AcecfDetalleAprobacionComercial> {
        public AcecfDetalleAprobacionComercial Version(String value) { return put("Version", value); }
        public AcecfDetalleAprobacionComercial RNCEmisor(String value) { return put("RNCEmisor", value); }
        public AcecfDetalleAprobacionComercial eNCF(String value) { return put("eNCF", value); }
        public AcecfDetalleAprobacionComercial FechaEmision(String value) { return put("FechaEmision", value); }
        public AcecfDetalleAprobacionComercial MontoTotal(BigDecimal value) { return put("MontoTotal", value); }
        public AcecfDetalleAprobacionComercial RNCComprador(String value) { return put("RNCComprador", value); }
        public AcecfDetalleAprobacionComercial Estado(String value) { return put("Estado", value); }
        public AcecfDetalleAprobacionComercial DetalleMotivoRechazo(String value) { return put("DetalleMotivoRechazo", value); }
        public AcecfDetalleAprobacionComercial FechaHoraAprobacionComercial(String value) { return put("FechaHoraAprobacionComercial", value); }
    }

    public static final class AcecfPayload extends Request<AcecfPayload> {
        public AcecfPayload ACECF(Acecf value) { return put("ACECF", value); }
    }

    public static final class Anecf extends Request<Anecf> {
        public Anecf Encabezado(AnecfEncabezado value) { return put("Encabezado", value); }
        public Anecf DetalleAnulacion(AnecfDetalleAnulacion value) { return put("DetalleAnulacion", value); }
    }

    public static final class AnecfAnulacion extends Request<AnecfAnulacion> {
        public AnecfAnulacion NoLinea(long value) { return put("NoLinea", value); }
        public AnecfAnulacion TipoeCF(String value) { return put("TipoeCF", value); }
        public AnecfAnulacion TablaRangoSecuenciasAnuladaseNCF(AnecfTablaRangoSecuenciasAnuladaseNCF value) { return put("TablaRangoSecuenciasAnuladaseNCF", value); }
        public AnecfAnulacion CantidadeNCFAnulados(long value) { return put("CantidadeNCFAnulados", value); }
    }

    public static final class AnecfDetalleAnulacion extends Request<AnecfDetalleAnulacion> {
        public AnecfDetalleAnulacion Anulacion(List<AnecfAnulacion> value) { return put("Anulacion", value); }
    }

    public static final class AnecfEncabezado extends Request<AnecfEncabezado> {
        public AnecfEncabezado Version(String value) { return put("Version", value); }
        public AnecfEncabezado RncEmisor(String value) { return put("RncEmisor", value); }
        public AnecfEncabezado CantidadeNCFAnulados(long value) { return put("CantidadeNCFAnulados", value); }
        public AnecfEncabezado FechaHoraAnulacioneNCF(String value) { return put("FechaHoraAnulacioneNCF", value); }
    }

    public static final class AnecfPayload extends Request<AnecfPayload> {
        public AnecfPayload ANECF(Anecf value) { return put("ANECF", value); }
    }

    public static final class AnecfSecuencias extends Request<AnecfSecuencias> {
        public AnecfSecuencias SecuenciaeNCFDesde(String value) { return put("SecuenciaeNCFDesde", value); }
        public AnecfSecuencias SecuenciaeNCFHasta(String value) { return put("SecuenciaeNCFHasta", value); }
    }

    public static final class AnecfTablaRangoSecuenciasAnuladaseNCF extends Request<AnecfTablaRangoSecuenciasAnuladaseNCF> {
        public AnecfTablaRangoSecuenciasAnuladaseNCF Secuencias(List<AnecfSecuencias> value) { return put("Secuencias", value); }
    }

    public record ApprovalAtAuthority(Json json) {
        public static ApprovalAtAuthority from(Json json) { return read(json, ApprovalAtAuthority::new); }
        public String status() { return json.get("status").text(); }
        public String message() { return json.get("message").text(); }
        public String at() { return json.get("at").text(); }
    }

    public record ApprovalTaken(Json json) {
        public static ApprovalTaken from(Json json) { return read(json, ApprovalTaken::new); }
        public String id() { return json.get("id").text(); }
        public String environment() { return json.get("environment").text(); }
        public String decision() { return json.get("decision").text(); }
        public String approvalStatus() { return json.get("approvalStatus").text(); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String status() { return json.get("status").text(); }
        public Boolean deduped() { return truth(json.get("deduped")); }
        public String message() { return json.get("message").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class ApproveReceived extends Request<ApproveReceived> {
        public ApproveReceived clientRequestId(String value) { return put("clientRequestId", value); }
        public ApproveReceived asUser(String value) { return put("asUser", value); }
        public ApproveReceived asUserId(String value) { return put("asUserId", value); }
    }

    public record ArchiveList(Json json) {
        public static ArchiveList from(Json json) { return read(json, ArchiveList::new); }
        public Long limit() { return whole(json.get("limit")); }
        public List<ArchivePackage> items() { return list(json.get("items"), ArchivePackage::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public record ArchivePackage(Json json) {
        public static ArchivePackage from(Json json) { return read(json, ArchivePackage::new); }
        public Long number() { return whole(json.get("number")); }
        public String day() { return json.get("day").text(); }
        public Long receipts() { return whole(json.get("receipts")); }
        public Long additions() { return whole(json.get("additions")); }
        public Long bytes() { return whole(json.get("bytes")); }
        public String sha256() { return json.get("sha256").text(); }
        public String manifestSha256() { return json.get("manifestSha256").text(); }
        public String previousManifestSha256() { return json.get("previousManifestSha256").text(); }
        public String storedAt() { return json.get("storedAt").text(); }
        public String stampedAt() { return json.get("stampedAt").text(); }
    }

    public static final class AskedRange extends Request<AskedRange> {
        public AskedRange first(String value) { return put("first", value); }
        public AskedRange last(String value) { return put("last", value); }
    }

    public record Attempt(Json json) {
        public static Attempt from(Json json) { return read(json, Attempt::new); }
        public String at() { return json.get("at").text(); }
        public Long durationMs() { return whole(json.get("durationMs")); }
        public Long status() { return whole(json.get("status")); }
        public String error() { return json.get("error").text(); }
        public Boolean redirected() { return truth(json.get("redirected")); }
        public String answer() { return json.get("answer").text(); }
    }

    public record AuthorityEvent(Json json) {
        public static AuthorityEvent from(Json json) { return read(json, AuthorityEvent::new); }
        public String event() { return json.get("event").text(); }
        public String sentAt() { return json.get("sentAt").text(); }
        public AuthorityOutage authority() { return AuthorityOutage.from(json.get("authority")); }
    }

    public record AuthorityHealth(Json json) {
        public static AuthorityHealth from(Json json) { return read(json, AuthorityHealth::new); }
        public String measuredAt() { return json.get("measuredAt").text(); }
        public List<EnvironmentHealth> environments() { return list(json.get("environments"), EnvironmentHealth::from); }
    }

    public record AuthorityOutage(Json json) {
        public static AuthorityOutage from(Json json) { return read(json, AuthorityOutage::new); }
        public String environment() { return json.get("environment").text(); }
        public String host() { return json.get("host").text(); }
        public String since() { return json.get("since").text(); }
        public String until() { return json.get("until").text(); }
    }

    public record Batch(Json json) {
        public static Batch from(Json json) { return read(json, Batch::new); }
        public List<BatchItem> items() { return list(json.get("items"), BatchItem::from); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record BatchItem(Json json) {
        public static BatchItem from(Json json) { return read(json, BatchItem::new); }
        public Long statusCode() { return whole(json.get("statusCode")); }
        public String message() { return json.get("message").text(); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String status() { return json.get("status").text(); }
        public String environment() { return json.get("environment").text(); }
        public Boolean billable() { return truth(json.get("billable")); }
        public Boolean deduped() { return truth(json.get("deduped")); }
        public Boolean bodyMatched() { return truth(json.get("bodyMatched")); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public BigDecimal totalITBIS() { return json.get("totalITBIS").amount(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public String razonSocialComprador() { return json.get("razonSocialComprador").text(); }
        public String fechaEmision() { return json.get("fechaEmision").text(); }
        public Boolean readyToPrint() { return truth(json.get("readyToPrint")); }
        public String eNCF() { return json.get("eNCF").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
        public List<DocumentProblem> problems() { return list(json.get("problems"), DocumentProblem::from); }
    }

    public static final class BatchRequest extends Request<BatchRequest> {
        public BatchRequest items(List<?> value) { return put("items", value); }
        public BatchRequest strict(Boolean value) { return put("strict", value); }
    }

    public record BillingPeriod(Json json) {
        public static BillingPeriod from(Json json) { return read(json, BillingPeriod::new); }
        public String period() { return json.get("period").text(); }
        public String periodStart() { return json.get("periodStart").text(); }
        public String periodEnd() { return json.get("periodEnd").text(); }
        public Boolean enabled() { return truth(json.get("enabled")); }
        public String subscriptionId() { return json.get("subscriptionId").text(); }
        public BigDecimal unitPrice() { return json.get("unitPrice").amount(); }
        public String currency() { return json.get("currency").text(); }
        public String pricingTier() { return json.get("pricingTier").text(); }
        public Long emissionsAccepted() { return whole(json.get("emissionsAccepted")); }
        public BigDecimal subtotal() { return json.get("subtotal").amount(); }
        public String lastUpdated() { return json.get("lastUpdated").text(); }
    }

    public record BuyerApproval(Json json) {
        public static BuyerApproval from(Json json) { return read(json, BuyerApproval::new); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String environment() { return json.get("environment").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public String reason() { return json.get("reason").text(); }
        public String receivedAt() { return json.get("receivedAt").text(); }
    }

    public record BuyerEvent(Json json) {
        public static BuyerEvent from(Json json) { return read(json, BuyerEvent::new); }
        public String event() { return json.get("event").text(); }
        public String sentAt() { return json.get("sentAt").text(); }
        public BuyerApproval approval() { return BuyerApproval.from(json.get("approval")); }
    }

    public record CertificateEvent(Json json) {
        public static CertificateEvent from(Json json) { return read(json, CertificateEvent::new); }
        public String event() { return json.get("event").text(); }
        public String sentAt() { return json.get("sentAt").text(); }
        public CertificateState certificate() { return CertificateState.from(json.get("certificate")); }
    }

    public record CertificateState(Json json) {
        public static CertificateState from(Json json) { return read(json, CertificateState::new); }
        public String id() { return json.get("id").text(); }
        public String user() { return json.get("user").text(); }
        public String expiresAt() { return json.get("expiresAt").text(); }
    }

    public static final class ChangedSequence extends Request<ChangedSequence> {
        public ChangedSequence minSequence(long value) { return put("minSequence", value); }
        public ChangedSequence maxSequence(long value) { return put("maxSequence", value); }
        public ChangedSequence expireAt(String value) { return put("expireAt", value); }
        public ChangedSequence isActive(Boolean value) { return put("isActive", value); }
        public ChangedSequence users(List<String> value) { return put("users", value); }
        public ChangedSequence agentId(String value) { return put("agentId", value); }
        public ChangedSequence nextRange(GivenAhead value) { return put("nextRange", value); }
        public ChangedSequence currentSequence(long value) { return put("currentSequence", value); }
    }

    public record CustomerItem(Json json) {
        public static CustomerItem from(Json json) { return read(json, CustomerItem::new); }
        public String id() { return json.get("id").text(); }
        public String name() { return json.get("name").text(); }
        public String rnc() { return json.get("rnc").text(); }
        public String email() { return json.get("email").text(); }
        public String phone() { return json.get("phone").text(); }
        public String address() { return json.get("address").text(); }
        public String municipality() { return json.get("municipality").text(); }
        public String province() { return json.get("province").text(); }
        public String type() { return json.get("type").text(); }
        public String source() { return json.get("source").text(); }
        public Long version() { return whole(json.get("version")); }
        public String changedAt() { return json.get("changedAt").text(); }
        public String usedAt() { return json.get("usedAt").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record CustomerList(Json json) {
        public static CustomerList from(Json json) { return read(json, CustomerList::new); }
        public Long limit() { return whole(json.get("limit")); }
        public List<CustomerItem> items() { return list(json.get("items"), CustomerItem::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public static final class CustomerRequest extends Request<CustomerRequest> {
        public CustomerRequest name(String value) { return put("name", value); }
        public CustomerRequest rnc(String value) { return put("rnc", value); }
        public CustomerRequest email(String value) { return put("email", value); }
        public CustomerRequest phone(String value) { return put("phone", value); }
        public CustomerRequest address(String value) { return put("address", value); }
        public CustomerRequest municipality(String value) { return put("municipality", value); }
        public CustomerRequest province(String value) { return put("province", value); }
        public CustomerRequest type(String value) { return put("type", value); }
        public CustomerRequest version(long value) { return put("version", value); }
    }

    public record DayStatus(Json json) {
        public static DayStatus from(Json json) { return read(json, DayStatus::new); }
        public String day() { return json.get("day").text(); }
        public Long measuredMinutes() { return whole(json.get("measuredMinutes")); }
        public Long degradedMinutes() { return whole(json.get("degradedMinutes")); }
        public Long downMinutes() { return whole(json.get("downMinutes")); }
    }

    public static final class DecideReceived extends Request<DecideReceived> {
        public DecideReceived decision(String value) { return put("decision", value); }
        public DecideReceived ids(List<String> value) { return put("ids", value); }
        public DecideReceived reason(String value) { return put("reason", value); }
        public DecideReceived asUser(String value) { return put("asUser", value); }
        public DecideReceived asUserId(String value) { return put("asUserId", value); }
    }

    public record DecidedItem(Json json) {
        public static DecidedItem from(Json json) { return read(json, DecidedItem::new); }
        public String id() { return json.get("id").text(); }
        public Long statusCode() { return whole(json.get("statusCode")); }
        public String message() { return json.get("message").text(); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String status() { return json.get("status").text(); }
    }

    public record DecidedMany(Json json) {
        public static DecidedMany from(Json json) { return read(json, DecidedMany::new); }
        public String decision() { return json.get("decision").text(); }
        public List<DecidedItem> items() { return list(json.get("items"), DecidedItem::from); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record Deduped(Json json) {
        public static Deduped from(Json json) { return read(json, Deduped::new); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String status() { return json.get("status").text(); }
        public String environment() { return json.get("environment").text(); }
        public Boolean deduped() { return truth(json.get("deduped")); }
        public Boolean bodyMatched() { return truth(json.get("bodyMatched")); }
        public String message() { return json.get("message").text(); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public BigDecimal totalITBIS() { return json.get("totalITBIS").amount(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public String razonSocialComprador() { return json.get("razonSocialComprador").text(); }
        public String fechaEmision() { return json.get("fechaEmision").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record Deleted(Json json) {
        public static Deleted from(Json json) { return read(json, Deleted::new); }
        public Boolean ok() { return truth(json.get("ok")); }
        public String prefix() { return json.get("prefix").text(); }
    }

    public record Delivery(Json json) {
        public static Delivery from(Json json) { return read(json, Delivery::new); }
        public String id() { return json.get("id").text(); }
        public String webhookId() { return json.get("webhookId").text(); }
        public String endpoint() { return json.get("endpoint").text(); }
        public String event() { return json.get("event").text(); }
        public String about() { return json.get("about").text(); }
        public String environment() { return json.get("environment").text(); }
        public String state() { return json.get("state").text(); }
        public Long attempts() { return whole(json.get("attempts")); }
        public String createdAt() { return json.get("createdAt").text(); }
        public String nextAttemptAt() { return json.get("nextAttemptAt").text(); }
        public String finishedAt() { return json.get("finishedAt").text(); }
        public String lastError() { return json.get("lastError").text(); }
        public Boolean redirected() { return truth(json.get("redirected")); }
    }

    public record DeliveryAgain(Json json) {
        public static DeliveryAgain from(Json json) { return read(json, DeliveryAgain::new); }
        public String id() { return json.get("id").text(); }
        public String state() { return json.get("state").text(); }
        public String message() { return json.get("message").text(); }
    }

    public record DeliveryDetail(Json json) {
        public static DeliveryDetail from(Json json) { return read(json, DeliveryDetail::new); }
        public String id() { return json.get("id").text(); }
        public String webhookId() { return json.get("webhookId").text(); }
        public String endpoint() { return json.get("endpoint").text(); }
        public String event() { return json.get("event").text(); }
        public String about() { return json.get("about").text(); }
        public String environment() { return json.get("environment").text(); }
        public String state() { return json.get("state").text(); }
        public Long attempts() { return whole(json.get("attempts")); }
        public String createdAt() { return json.get("createdAt").text(); }
        public String nextAttemptAt() { return json.get("nextAttemptAt").text(); }
        public String finishedAt() { return json.get("finishedAt").text(); }
        public String lastError() { return json.get("lastError").text(); }
        public Boolean redirected() { return truth(json.get("redirected")); }
        public List<Attempt> tries() { return list(json.get("tries"), Attempt::from); }
    }

    public record DeliveryPage(Json json) {
        public static DeliveryPage from(Json json) { return read(json, DeliveryPage::new); }
        public Long page() { return whole(json.get("page")); }
        public Long limit() { return whole(json.get("limit")); }
        public Long total() { return whole(json.get("total")); }
        public List<Delivery> items() { return list(json.get("items"), Delivery::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public record DeliveryStretch(Json json) {
        public static DeliveryStretch from(Json json) { return read(json, DeliveryStretch::new); }
        public Long limit() { return whole(json.get("limit")); }
        public List<Delivery> items() { return list(json.get("items"), Delivery::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public record DocumentProblem(Json json) {
        public static DocumentProblem from(Json json) { return read(json, DocumentProblem::new); }
        public String code() { return json.get("code").text(); }
        public String path() { return json.get("path").text(); }
        public String message() { return json.get("message").text(); }
        public String messageEs() { return json.get("messageEs").text(); }
        public String severity() { return json.get("severity").text(); }
        public Long line() { return whole(json.get("line")); }
        public Long column() { return whole(json.get("column")); }
        public String found() { return json.get("found").text(); }
        public String expected() { return json.get("expected").text(); }
        public String expectedEs() { return json.get("expectedEs").text(); }
        public String fix() { return json.get("fix").text(); }
        public String fixEs() { return json.get("fixEs").text(); }
        public List<String> allowed() { return list(json.get("allowed"), Json::text); }
        public ProblemRepair repair() { return ProblemRepair.from(json.get("repair")); }
    }

    public static final class Ecf extends Request<Ecf> {
        public Ecf Encabezado(EcfEncabezado value) { return put("Encabezado", value); }
        public Ecf DetallesItems(EcfDetallesItems value) { return put("DetallesItems", value); }
        public Ecf Subtotales(EcfSubtotales value) { return put("Subtotales", value); }
        public Ecf DescuentosORecargos(EcfDescuentosORecargos value) { return put("DescuentosORecargos", value); }
        public Ecf Paginacion(EcfPaginacion value) { return put("Paginacion", value); }
        public Ecf InformacionReferencia(EcfInformacionReferencia value) { return put("InformacionReferencia", value); }
        public Ecf FechaHoraFirma(String value) { return put("FechaHoraFirma", value); }
    }

    public static final class EcfCodigosItem extends Request<EcfCodigosItem> {
        public EcfCodigosItem TipoCodigo(String value) { return put("TipoCodigo", value); }
        public EcfCodigosItem CodigoItem(String value) { return put("CodigoItem", value); }
    }

    public static final class EcfComprador extends Request<EcfComprador> {
        public EcfComprador RNCComprador(String value) { return put("RNCComprador", value); }
        public EcfComprador RazonSocialComprador(String value) { return put("RazonSocialComprador", value); }
        public EcfComprador ContactoComprador(String value) { return put("ContactoComprador", value); }
        public EcfComprador CorreoComprador(String value) { return put("CorreoComprador", value); }
        public EcfComprador DireccionComprador(String value) { return put("DireccionComprador", value); }
        public EcfComprador MunicipioComprador(String value) { return put("MunicipioComprador", value); }
        public EcfComprador ProvinciaComprador(String value) { return put("ProvinciaComprador", value); }
        public EcfComprador FechaEntrega(String value) { return put("FechaEntrega", value); }
        public EcfComprador ContactoEntrega(String value) { return put("ContactoEntrega", value); }
        public EcfComprador DireccionEntrega(String value) { return put("DireccionEntrega", value); }
        public EcfComprador TelefonoAdicional(String value) { return put("TelefonoAdicional", value); }
        public EcfComprador FechaOrdenCompra(String value) { return put("FechaOrdenCompra", value); }
        public EcfComprador NumeroOrdenCompra(String value) { return put("NumeroOrdenCompra", value); }
        public EcfComprador CodigoInternoComprador(String value) { return put("CodigoInternoComprador", value); }
        public EcfComprador ResponsablePago(String value) { return put("ResponsablePago", value); }
        public EcfComprador InformacionAdicionalComprador(String value) { return put("InformacionAdicionalComprador", value); }
        public EcfComprador IdentificadorExtranjero(String value) { return put("IdentificadorExtranjero", value); }
        public EcfComprador PaisComprador(String value) { return put("PaisComprador", value); }
    }

    public static final class EcfDescuentoORecargo extends Request<EcfDescuentoORecargo> {
        public EcfDescuentoORecargo NumeroLinea(long value) { return put("NumeroLinea", value); }
        public EcfDescuentoORecargo TipoAjuste(String value) { return put("TipoAjuste", value); }
        public EcfDescuentoORecargo IndicadorNorma1007(String value) { return put("IndicadorNorma1007", value); }
        public EcfDescuentoORecargo DescripcionDescuentooRecargo(String value) { return put("DescripcionDescuentooRecargo", value); }
        public EcfDescuentoORecargo TipoValor(String value) { return put("TipoValor", value); }
        public EcfDescuentoORecargo ValorDescuentooRecargo(BigDecimal value) { return put("ValorDescuentooRecargo", value); }
        public EcfDescuentoORecargo MontoDescuentooRecargo(BigDecimal value) { return put("MontoDescuentooRecargo", value); }
        public EcfDescuentoORecargo MontoDescuentooRecargoOtraMoneda(BigDecimal value) { return put("MontoDescuentooRecargoOtraMoneda", value); }
        public EcfDescuentoORecargo IndicadorFacturacionDescuentooRecargo(String value) { return put("IndicadorFacturacionDescuentooRecargo", value); }
    }

    public static final class EcfDescuentosORecargos extends Request<EcfDescuentosORecargos> {
        public EcfDescuentosORecargos DescuentoORecargo(List<EcfDescuentoORecargo> value) { return put("DescuentoORecargo", value); }
    }

    public static final class EcfDetallesItems extends Request<EcfDetallesItems> {
        public EcfDetallesItems Item(List<EcfItem> value) { return put("Item", value); }
    }

    public static final class EcfEmisor extends Request<EcfEmisor> {
        public EcfEmisor RNCEmisor(String value) { return put("RNCEmisor", value); }
        public EcfEmisor RazonSocialEmisor(String value) { return put("RazonSocialEmisor", value); }
        public EcfEmisor NombreComercial(String value) { return put("NombreComercial", value); }
        public EcfEmisor Sucursal(String value) { return put("Sucursal", value); }
        public EcfEmisor DireccionEmisor(String value) { return put("DireccionEmisor", value); }
        public EcfEmisor Municipio(String value) { return put("Municipio", value); }
        public EcfEmisor Provincia(String value) { return put("Provincia", value); }
        public EcfEmisor TablaTelefonoEmisor(EcfTablaTelefonoEmisor value) { return put("TablaTelefonoEmisor", value); }
        public EcfEmisor CorreoEmisor(String value) { return put("CorreoEmisor", value); }
        public EcfEmisor WebSite(String value) { return put("WebSite", value); }
        public EcfEmisor ActividadEconomica(String value) { return put("ActividadEconomica", value); }
        public EcfEmisor CodigoVendedor(String value) { return put("CodigoVendedor", value); }
        public EcfEmisor NumeroFacturaInterna(String value) { return put("NumeroFacturaInterna", value); }
        public EcfEmisor NumeroPedidoInterno(long value) { return put("NumeroPedidoInterno", value); }
        public EcfEmisor ZonaVenta(String value) { return put("ZonaVenta", value); }
        public EcfEmisor RutaVenta(String value) { return put("RutaVenta", value); }
        public EcfEmisor InformacionAdicionalEmisor(String value) { return put("InformacionAdicionalEmisor", value); }
        public EcfEmisor FechaEmision(String value) { return put("FechaEmision", value); }
    }

    public static final class EcfEncabezado extends Request<EcfEncabezado> {
        public EcfEncabezado Version(String value) { return put("Version", value); }
        public EcfEncabezado IdDoc(EcfIdDoc value) { return put("IdDoc", value); }
        public EcfEncabezado Emisor(EcfEmisor value) { return put("Emisor", value); }
        public EcfEncabezado Comprador(EcfComprador value) { return put("Comprador", value); }
        public EcfEncabezado InformacionesAdicionales(EcfInformacionesAdicionales value) { return put("InformacionesAdicionales", value); }
        public EcfEncabezado Transporte(EcfTransporte value) { return put("Transporte", value); }
        public EcfEncabezado Totales(EcfTotales value) { return put("Totales", value); }
        public EcfEncabezado OtraMoneda(EcfOtraMoneda value) { return put("OtraMoneda", value); }
    }

    public static final class EcfFormaDePago extends Request<EcfFormaDePago> {
        public EcfFormaDePago FormaPago(String value) { return put("FormaPago", value); }
        public EcfFormaDePago MontoPago(BigDecimal value) { return put("MontoPago", value); }
    }

    public static final class EcfIdDoc extends Request<EcfIdDoc> {
        public EcfIdDoc TipoeCF(String value) { return put("TipoeCF", value); }
        public EcfIdDoc eNCF(String value) { return put("eNCF", value); }
        public EcfIdDoc FechaVencimientoSecuencia(String value) { return put("FechaVencimientoSecuencia", value); }
        public EcfIdDoc IndicadorEnvioDiferido(String value) { return put("IndicadorEnvioDiferido", value); }
        public EcfIdDoc IndicadorMontoGravado(String value) { return put("IndicadorMontoGravado", value); }
        public EcfIdDoc IndicadorServicioTodoIncluido(String value) { return put("IndicadorServicioTodoIncluido", value); }
        public EcfIdDoc TipoIngresos(String value) { return put("TipoIngresos", value); }
        public EcfIdDoc TipoPago(String value) { return put("TipoPago", value); }
        public EcfIdDoc FechaLimitePago(String value) { return put("FechaLimitePago", value); }
        public EcfIdDoc TerminoPago(String value) { return put("TerminoPago", value); }
        public EcfIdDoc TablaFormasPago(EcfTablaFormasPago value) { return put("TablaFormasPago", value); }
        public EcfIdDoc TipoCuentaPago(String value) { return put("TipoCuentaPago", value); }
        public EcfIdDoc NumeroCuentaPago(String value) { return put("NumeroCuentaPago", value); }
        public EcfIdDoc BancoPago(String value) { return put("BancoPago", value); }
        public EcfIdDoc FechaDesde(String value) { return put("FechaDesde", value); }
        public EcfIdDoc FechaHasta(String value) { return put("FechaHasta", value); }
        public EcfIdDoc TotalPaginas(long value) { return put("TotalPaginas", value); }
        public EcfIdDoc IndicadorNotaCredito(String value) { return put("IndicadorNotaCredito", value); }
    }

    public static final class EcfImpuestoAdicionalOtraMoneda extends Request<EcfImpuestoAdicionalOtraMoneda> {
        public EcfImpuestoAdicionalOtraMoneda TipoImpuestoOtraMoneda(String value) { return put("TipoImpuestoOtraMoneda", value); }
        public EcfImpuestoAdicionalOtraMoneda TasaImpuestoAdicionalOtraMoneda(BigDecimal value) { return put("TasaImpuestoAdicionalOtraMoneda", value); }
        public EcfImpuestoAdicionalOtraMoneda MontoImpuestoSelectivoConsumoEspecificoOtraMoneda(BigDecimal value) { return put("MontoImpuestoSelectivoConsumoEspecificoOtraMoneda", value); }
        public EcfImpuestoAdicionalOtraMoneda MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda(BigDecimal value) { return put("MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda", value); }
        public EcfImpuestoAdicionalOtraMoneda OtrosImpuestosAdicionalesOtraMoneda(BigDecimal value) { return put("OtrosImpuestosAdicionalesOtraMoneda", value); }
    }

    public static final class EcfImpuestosAdicionales extends Request<EcfImpuestosAdicionales> {
        public EcfImpuestosAdicionales ImpuestoAdicional(List<EcfTotalesImpuestoAdicional> value) { return put("ImpuestoAdicional", value); }
    }

    public static final class EcfImpuestosAdicionalesOtraMoneda extends Request<EcfImpuestosAdicionalesOtraMoneda> {
        public EcfImpuestosAdicionalesOtraMoneda ImpuestoAdicionalOtraMoneda(List<EcfImpuestoAdicionalOtraMoneda> value) { return put("ImpuestoAdicionalOtraMoneda", value); }
    }

    public static final class EcfInformacionReferencia extends Request<EcfInformacionReferencia> {
        public EcfInformacionReferencia NCFModificado(String value) { return put("NCFModificado", value); }
        public EcfInformacionReferencia RNCOtroContribuyente(String value) { return put("RNCOtroContribuyente", value); }
        public EcfInformacionReferencia FechaNCFModificado(String value) { return put("FechaNCFModificado", value); }
        public EcfInformacionReferencia CodigoModificacion(String value) { return put("CodigoModificacion", value); }
        public EcfInformacionReferencia RazonModificacion(String value) { return put("RazonModificacion", value); }
    }

    public static final class EcfInformacionesAdicionales extends Request<EcfInformacionesAdicionales> {
        public EcfInformacionesAdicionales FechaEmbarque(String value) { return put("FechaEmbarque", value); }
        public EcfInformacionesAdicionales NumeroEmbarque(String value) { return put("NumeroEmbarque", value); }
        public EcfInformacionesAdicionales NumeroContenedor(String value) { return put("NumeroContenedor", value); }
        public EcfInformacionesAdicionales NumeroReferencia(String value) { return put("NumeroReferencia", value); }
        public EcfInformacionesAdicionales PesoBruto(BigDecimal value) { return put("PesoBruto", value); }
        public EcfInformacionesAdicionales PesoNeto(BigDecimal value) { return put("PesoNeto", value); }
        public EcfInformacionesAdicionales UnidadPesoBruto(String value) { return put("UnidadPesoBruto", value); }
        public EcfInformacionesAdicionales UnidadPesoNeto(String value) { return put("UnidadPesoNeto", value); }
        public EcfInformacionesAdicionales CantidadBulto(BigDecimal value) { return put("CantidadBulto", value); }
        public EcfInformacionesAdicionales UnidadBulto(String value) { return put("UnidadBulto", value); }
        public EcfInformacionesAdicionales VolumenBulto(BigDecimal value) { return put("VolumenBulto", value); }
        public EcfInformacionesAdicionales UnidadVolumen(String value) { return put("UnidadVolumen", value); }
        public EcfInformacionesAdicionales NombrePuertoEmbarque(String value) { return put("NombrePuertoEmbarque", value); }
        public EcfInformacionesAdicionales CondicionesEntrega(String value) { return put("CondicionesEntrega", value); }
        public EcfInformacionesAdicionales TotalFob(BigDecimal value) { return put("TotalFob", value); }
        public EcfInformacionesAdicionales Seguro(BigDecimal value) { return put("Seguro", value); }
        public EcfInformacionesAdicionales Flete(BigDecimal value) { return put("Flete", value); }
        public EcfInformacionesAdicionales OtrosGastos(BigDecimal value) { return put("OtrosGastos", value); }
        public EcfInformacionesAdicionales TotalCif(BigDecimal value) { return put("TotalCif", value); }
        public EcfInformacionesAdicionales RegimenAduanero(String value) { return put("RegimenAduanero", value); }
        public EcfInformacionesAdicionales NombrePuertoSalida(String value) { return put("NombrePuertoSalida", value); }
        public EcfInformacionesAdicionales NombrePuertoDesembarque(String value) { return put("NombrePuertoDesembarque", value); }
    }

    public static final class EcfItem extends Request<EcfItem> {
        public EcfItem NumeroLinea(long value) { return put("NumeroLinea", value); }
        public EcfItem TablaCodigosItem(EcfTablaCodigosItem value) { return put("TablaCodigosItem", value); }
        public EcfItem IndicadorFacturacion(String value) { return put("IndicadorFacturacion", value); }
        public EcfItem Retencion(EcfRetencion value) { return put("Retencion", value); }
        public EcfItem NombreItem(String value) { return put("NombreItem", value); }
        public EcfItem IndicadorBienoServicio(String value) { return put("IndicadorBienoServicio", value); }
        public EcfItem DescripcionItem(String value) { return put("DescripcionItem", value); }
        public EcfItem CantidadItem(BigDecimal value) { return put("CantidadItem", value); }
        public EcfItem UnidadMedida(String value) { return put("UnidadMedida", value); }
        public EcfItem CantidadReferencia(BigDecimal value) { return put("CantidadReferencia", value); }
        public EcfItem UnidadReferencia(String value) { return put("UnidadReferencia", value); }
        public EcfItem TablaSubcantidad(EcfTablaSubcantidad value) { return put("TablaSubcantidad", value); }
        public EcfItem GradosAlcohol(BigDecimal value) { return put("GradosAlcohol", value); }
        public EcfItem PrecioUnitarioReferencia(BigDecimal value) { return put("PrecioUnitarioReferencia", value); }
        public EcfItem FechaElaboracion(String value) { return put("FechaElaboracion", value); }
        public EcfItem FechaVencimientoItem(String value) { return put("FechaVencimientoItem", value); }
        public EcfItem PrecioUnitarioItem(BigDecimal value) { return put("PrecioUnitarioItem", value); }
        public EcfItem DescuentoMonto(BigDecimal value) { return put("DescuentoMonto", value); }
        public EcfItem TablaSubDescuento(EcfTablaSubDescuento value) { return put("TablaSubDescuento", value); }
        public EcfItem RecargoMonto(BigDecimal value) { return put("RecargoMonto", value); }
        public EcfItem TablaSubRecargo(EcfTablaSubRecargo value) { return put("TablaSubRecargo", value); }
        public EcfItem TablaImpuestoAdicional(EcfTablaImpuestoAdicional value) { return put("TablaImpuestoAdicional", value); }
        public EcfItem OtraMonedaDetalle(EcfOtraMonedaDetalle value) { return put("OtraMonedaDetalle", value); }
        public EcfItem MontoItem(BigDecimal value) { return put("MontoItem", value); }
        public EcfItem Mineria(EcfMineria value) { return put("Mineria", value); }
    }

    public static final class EcfItemImpuestoAdicional extends Request<EcfItemImpuestoAdicional> {
        public EcfItemImpuestoAdicional TipoImpuesto(String value) { return put("TipoImpuesto", value); }
    }

    public static final class EcfMineria extends Request<EcfMineria> {
        public EcfMineria PesoNetoKilogramo(BigDecimal value) { return put("PesoNetoKilogramo", value); }
        public EcfMineria PesoNetoMineria(BigDecimal value) { return put("PesoNetoMineria", value); }
        public EcfMineria TipoAfiliacion(String value) { return put("TipoAfiliacion", value); }
        public EcfMineria Liquidacion(String value) { return put("Liquidacion", value); }
    }

    public static final class EcfOtraMoneda extends Request<EcfOtraMoneda> {
        public EcfOtraMoneda TipoMoneda(String value) { return put("TipoMoneda", value); }
        public EcfOtraMoneda TipoCambio(BigDecimal value) { return put("TipoCambio", value); }
        public EcfOtraMoneda MontoGravadoTotalOtraMoneda(BigDecimal value) { return put("MontoGravadoTotalOtraMoneda", value); }
        public EcfOtraMoneda MontoGravado1OtraMoneda(BigDecimal value) { return put("MontoGravado1OtraMoneda", value); }
        public EcfOtraMoneda MontoGravado2OtraMoneda(BigDecimal value) { return put("MontoGravado2OtraMoneda", value); }
        public EcfOtraMoneda MontoGravado3OtraMoneda(BigDecimal value) { return put("MontoGravado3OtraMoneda", value); }
        public EcfOtraMoneda MontoExentoOtraMoneda(BigDecimal value) { return put("MontoExentoOtraMoneda", value); }
        public EcfOtraMoneda TotalITBISOtraMoneda(BigDecimal value) { return put("TotalITBISOtraMoneda", value); }
        public EcfOtraMoneda TotalITBIS1OtraMoneda(BigDecimal value) { return put("TotalITBIS1OtraMoneda", value); }
        public EcfOtraMoneda TotalITBIS2OtraMoneda(BigDecimal value) { return put("TotalITBIS2OtraMoneda", value); }
        public EcfOtraMoneda TotalITBIS3OtraMoneda(BigDecimal value) { return put("TotalITBIS3OtraMoneda", value); }
        public EcfOtraMoneda MontoImpuestoAdicionalOtraMoneda(BigDecimal value) { return put("MontoImpuestoAdicionalOtraMoneda", value); }
        public EcfOtraMoneda ImpuestosAdicionalesOtraMoneda(EcfImpuestosAdicionalesOtraMoneda value) { return put("ImpuestosAdicionalesOtraMoneda", value); }
        public EcfOtraMoneda MontoTotalOtraMoneda(BigDecimal value) { return put("MontoTotalOtraMoneda", value); }
    }

    public static final class EcfOtraMonedaDetalle extends Request<EcfOtraMonedaDetalle> {
        public EcfOtraMonedaDetalle PrecioOtraMoneda(BigDecimal value) { return put("PrecioOtraMoneda", value); }
        public EcfOtraMonedaDetalle DescuentoOtraMoneda(BigDecimal value) { return put("DescuentoOtraMoneda", value); }
        public EcfOtraMonedaDetalle RecargoOtraMoneda(BigDecimal value) { return put("RecargoOtraMoneda", value); }
        public EcfOtraMonedaDetalle MontoItemOtraMoneda(BigDecimal value) { return put("MontoItemOtraMoneda", value); }
    }

    public static final class EcfPagina extends Request<EcfPagina> {
        public EcfPagina PaginaNo(long value) { return put("PaginaNo", value); }
        public EcfPagina NoLineaDesde(long value) { return put("NoLineaDesde", value); }
        public EcfPagina NoLineaHasta(long value) { return put("NoLineaHasta", value); }
        public EcfPagina SubtotalMontoGravadoPagina(BigDecimal value) { return put("SubtotalMontoGravadoPagina", value); }
        public EcfPagina SubtotalMontoGravado1Pagina(BigDecimal value) { return put("SubtotalMontoGravado1Pagina", value); }
        public EcfPagina SubtotalMontoGravado2Pagina(BigDecimal value) { return put("SubtotalMontoGravado2Pagina", value); }
        public EcfPagina SubtotalMontoGravado3Pagina(BigDecimal value) { return put("SubtotalMontoGravado3Pagina", value); }
        public EcfPagina SubtotalExentoPagina(BigDecimal value) { return put("SubtotalExentoPagina", value); }
        public EcfPagina SubtotalItbisPagina(BigDecimal value) { return put("SubtotalItbisPagina", value); }
        public EcfPagina SubtotalItbis1Pagina(BigDecimal value) { return put("SubtotalItbis1Pagina", value); }
        public EcfPagina SubtotalItbis2Pagina(BigDecimal value) { return put("SubtotalItbis2Pagina", value); }
        public EcfPagina SubtotalItbis3Pagina(BigDecimal value) { return put("SubtotalItbis3Pagina", value); }
        public EcfPagina SubtotalImpuestoAdicionalPagina(BigDecimal value) { return put("SubtotalImpuestoAdicionalPagina", value); }
        public EcfPagina SubtotalImpuestoAdicional(EcfSubtotalImpuestoAdicional value) { return put("SubtotalImpuestoAdicional", value); }
        public EcfPagina MontoSubtotalPagina(BigDecimal value) { return put("MontoSubtotalPagina", value); }
        public EcfPagina SubtotalMontoNoFacturablePagina(BigDecimal value) { return put("SubtotalMontoNoFacturablePagina", value); }
    }

    public static final class EcfPaginacion extends Request<EcfPaginacion> {
        public EcfPaginacion Pagina(List<EcfPagina> value) { return put("Pagina", value); }
    }

    public static final class EcfRetencion extends Request<EcfRetencion> {
        public EcfRetencion IndicadorAgenteRetencionoPercepcion(String value) { return put("IndicadorAgenteRetencionoPercepcion", value); }
        public EcfRetencion MontoITBISRetenido(BigDecimal value) { return put("MontoITBISRetenido", value); }
        public EcfRetencion MontoISRRetenido(BigDecimal value) { return put("MontoISRRetenido", value); }
    }

    public static final class EcfSubDescuento extends Request<EcfSubDescuento> {
        public EcfSubDescuento TipoSubDescuento(String value) { return put("TipoSubDescuento", value); }
        public EcfSubDescuento SubDescuentoPorcentaje(BigDecimal value) { return put("SubDescuentoPorcentaje", value); }
        public EcfSubDescuento MontoSubDescuento(BigDecimal value) { return put("MontoSubDescuento", value); }
    }

    public static final class EcfSubRecargo extends Request<EcfSubRecargo> {
        public EcfSubRecargo TipoSubRecargo(String value) { return put("TipoSubRecargo", value); }
        public EcfSubRecargo SubRecargoPorcentaje(BigDecimal value) { return put("SubRecargoPorcentaje", value); }
        public EcfSubRecargo MontoSubRecargo(BigDecimal value) { return put("MontoSubRecargo", value); }
    }

    public static final class EcfSubcantidadItem extends Request<EcfSubcantidadItem> {
        public EcfSubcantidadItem Subcantidad(BigDecimal value) { return put("Subcantidad", value); }
        public EcfSubcantidadItem CodigoSubcantidad(String value) { return put("CodigoSubcantidad", value); }
    }

    public static final class EcfSubtotal extends Request<EcfSubtotal> {
        public EcfSubtotal NumeroSubTotal(long value) { return put("NumeroSubTotal", value); }
        public EcfSubtotal DescripcionSubtotal(String value) { return put("DescripcionSubtotal", value); }
        public EcfSubtotal Orden(long value) { return put("Orden", value); }
        public EcfSubtotal SubTotalMontoGravadoTotal(BigDecimal value) { return put("SubTotalMontoGravadoTotal", value); }
        public EcfSubtotal SubTotalMontoGravadoI1(BigDecimal value) { return put("SubTotalMontoGravadoI1", value); }
        public EcfSubtotal SubTotalMontoGravadoI2(BigDecimal value) { return put("SubTotalMontoGravadoI2", value); }
        public EcfSubtotal SubTotalMontoGravadoI3(BigDecimal value) { return put("SubTotalMontoGravadoI3", value); }
        public EcfSubtotal SubTotaITBIS(BigDecimal value) { return put("SubTotaITBIS", value); }
        public EcfSubtotal SubTotaITBIS1(BigDecimal value) { return put("SubTotaITBIS1", value); }
        public EcfSubtotal SubTotaITBIS2(BigDecimal value) { return put("SubTotaITBIS2", value); }
        public EcfSubtotal SubTotaITBIS3(BigDecimal value) { return put("SubTotaITBIS3", value); }
        public EcfSubtotal SubTotalImpuestoAdicional(BigDecimal value) { return put("SubTotalImpuestoAdicional", value); }
        public EcfSubtotal SubTotalExento(BigDecimal value) { return put("SubTotalExento", value); }
        public EcfSubtotal MontoSubTotal(BigDecimal value) { return put("MontoSubTotal", value); }
        public EcfSubtotal Lineas(long value) { return put("Lineas", value); }
    }

    public static final class EcfSubtotalImpuestoAdicional extends Request<EcfSubtotalImpuestoAdicional> {
        public EcfSubtotalImpuestoAdicional SubtotalImpuestoSelectivoConsumoEspecificoPagina(BigDecimal value) { return put("SubtotalImpuestoSelectivoConsumoEspecificoPagina", value); }
        public EcfSubtotalImpuestoAdicional SubtotalOtrosImpuesto(BigDecimal value) { return put("SubtotalOtrosImpuesto", value); }
    }

    public static final class EcfSubtotales extends Request<EcfSubtotales> {
        public EcfSubtotales Subtotal(List<EcfSubtotal> value) { return put("Subtotal", value); }
    }

    public static final class EcfTablaCodigosItem extends Request<EcfTablaCodigosItem> {
        public EcfTablaCodigosItem CodigosItem(List<EcfCodigosItem> value) { return put("CodigosItem", value); }
    }

    public static final class EcfTablaFormasPago extends Request<EcfTablaFormasPago> {
        public EcfTablaFormasPago FormaDePago(List<EcfFormaDePago> value) { return put("FormaDePago", value); }
    }

    public static final class EcfTablaImpuestoAdicional extends Request<EcfTablaImpuestoAdicional> {
        public EcfTablaImpuestoAdicional ImpuestoAdicional(List<EcfItemImpuestoAdicional> value) { return put("ImpuestoAdicional", value); }
    }

    public static final class EcfTablaSubDescuento extends Request<EcfTablaSubDescuento> {
        public EcfTablaSubDescuento SubDescuento(List<EcfSubDescuento> value) { return put("SubDescuento", value); }
    }

    public static final class EcfTablaSubRecargo extends Request<EcfTablaSubRecargo> {
        public EcfTablaSubRecargo SubRecargo(List<EcfSubRecargo> value) { return put("SubRecargo", value); }
    }

    public static final class EcfTablaSubcantidad extends Request<EcfTablaSubcantidad> {
        public EcfTablaSubcantidad SubcantidadItem(List<EcfSubcantidadItem> value) { return put("SubcantidadItem", value); }
    }

    public static final class EcfTablaTelefonoEmisor extends Request<EcfTablaTelefonoEmisor> {
        public EcfTablaTelefonoEmisor TelefonoEmisor(List<String> value) { return put("TelefonoEmisor", value); }
    }

    public static final class EcfTotales extends Request<EcfTotales> {
        public EcfTotales MontoGravadoTotal(BigDecimal value) { return put("MontoGravadoTotal", value); }
        public EcfTotales MontoGravadoI1(BigDecimal value) { return put("MontoGravadoI1", value); }
        public EcfTotales MontoGravadoI2(BigDecimal value) { return put("MontoGravadoI2", value); }
        public EcfTotales MontoGravadoI3(BigDecimal value) { return put("MontoGravadoI3", value); }
        public EcfTotales MontoExento(BigDecimal value) { return put("MontoExento", value); }
        public EcfTotales ITBIS1(long value) { return put("ITBIS1", value); }
        public EcfTotales ITBIS2(long value) { return put("ITBIS2", value); }
        public EcfTotales ITBIS3(long value) { return put("ITBIS3", value); }
        public EcfTotales TotalITBIS(BigDecimal value) { return put("TotalITBIS", value); }
        public EcfTotales TotalITBIS1(BigDecimal value) { return put("TotalITBIS1", value); }
        public EcfTotales TotalITBIS2(BigDecimal value) { return put("TotalITBIS2", value); }
        public EcfTotales TotalITBIS3(BigDecimal value) { return put("TotalITBIS3", value); }
        public EcfTotales MontoImpuestoAdicional(BigDecimal value) { return put("MontoImpuestoAdicional", value); }
        public EcfTotales ImpuestosAdicionales(EcfImpuestosAdicionales value) { return put("ImpuestosAdicionales", value); }
        public EcfTotales MontoTotal(BigDecimal value) { return put("MontoTotal", value); }
        public EcfTotales MontoNoFacturable(BigDecimal value) { return put("MontoNoFacturable", value); }
        public EcfTotales MontoPeriodo(BigDecimal value) { return put("MontoPeriodo", value); }
        public EcfTotales SaldoAnterior(BigDecimal value) { return put("SaldoAnterior", value); }
        public EcfTotales MontoAvancePago(BigDecimal value) { return put("MontoAvancePago", value); }
        public EcfTotales ValorPagar(BigDecimal value) { return put("ValorPagar", value); }
        public EcfTotales TotalITBISRetenido(BigDecimal value) { return put("TotalITBISRetenido", value); }
        public EcfTotales TotalISRRetencion(BigDecimal value) { return put("TotalISRRetencion", value); }
        public EcfTotales TotalITBISPercepcion(BigDecimal value) { return put("TotalITBISPercepcion", value); }
        public EcfTotales TotalISRPercepcion(BigDecimal value) { return put("TotalISRPercepcion", value); }
    }

    public static final class EcfTotalesImpuestoAdicional extends Request<EcfTotalesImpuestoAdicional> {
        public EcfTotalesImpuestoAdicional TipoImpuesto(String value) { return put("TipoImpuesto", value); }
        public EcfTotalesImpuestoAdicional TasaImpuestoAdicional(BigDecimal value) { return put("TasaImpuestoAdicional", value); }
        public EcfTotalesImpuestoAdicional MontoImpuestoSelectivoConsumoEspecifico(BigDecimal value) { return put("MontoImpuestoSelectivoConsumoEspecifico", value); }
        public EcfTotalesImpuestoAdicional MontoImpuestoSelectivoConsumoAdvalorem(BigDecimal value) { return put("MontoImpuestoSelectivoConsumoAdvalorem", value); }
        public EcfTotalesImpuestoAdicional OtrosImpuestosAdicionales(BigDecimal value) { return put("OtrosImpuestosAdicionales", value); }
    }

    public static final class EcfTransporte extends Request<EcfTransporte> {
        public EcfTransporte Conductor(String value) { return put("Conductor", value); }
        public EcfTransporte DocumentoTransporte(long value) { return put("DocumentoTransporte", value); }
        public EcfTransporte Ficha(String value) { return put("Ficha", value); }
        public EcfTransporte Placa(String value) { return put("Placa", value); }
        public EcfTransporte RutaTransporte(String value) { return put("RutaTransporte", value); }
        public EcfTransporte ZonaTransporte(String value) { return put("ZonaTransporte", value); }
        public EcfTransporte NumeroAlbaran(String value) { return put("NumeroAlbaran", value); }
        public EcfTransporte ViaTransporte(String value) { return put("ViaTransporte", value); }
        public EcfTransporte PaisOrigen(String value) { return put("PaisOrigen", value); }
        public EcfTransporte DireccionDestino(String value) { return put("DireccionDestino", value); }
        public EcfTransporte PaisDestino(String value) { return put("PaisDestino", value); }
        public EcfTransporte RNCIdentificacionCompaniaTransportista(String value) { return put("RNCIdentificacionCompaniaTransportista", value); }
        public EcfTransporte NombreCompaniaTransportista(String value) { return put("NombreCompaniaTransportista", value); }
        public EcfTransporte NumeroViaje(String value) { return put("NumeroViaje", value); }
    }

    public record EntryDeleted(Json json) {
        public static EntryDeleted from(Json json) { return read(json, EntryDeleted::new); }
        public Boolean ok() { return truth(json.get("ok")); }
        public String id() { return json.get("id").text(); }
    }

    public record EnvironmentHealth(Json json) {
        public static EnvironmentHealth from(Json json) { return read(json, EnvironmentHealth::new); }
        public String environment() { return json.get("environment").text(); }
        public List<OutageAnswer> outages() { return list(json.get("outages"), OutageAnswer::from); }
        public List<ServiceHealth> lastHour() { return list(json.get("lastHour"), ServiceHealth::from); }
        public List<ServiceHealth> lastDay() { return list(json.get("lastDay"), ServiceHealth::from); }
        public List<PastOutage> pastOutages() { return list(json.get("pastOutages"), PastOutage::from); }
    }

    public record Error(Json json) {
        public static Error from(Json json) { return read(json, Error::new); }
        public String message() { return json.get("message").text(); }
        public Long statusCode() { return whole(json.get("statusCode")); }
        public String hint() { return json.get("hint").text(); }
        public List<DocumentProblem> problems() { return list(json.get("problems"), DocumentProblem::from); }
    }

    public record ExpenseAnswer(Json json) {
        public static ExpenseAnswer from(Json json) { return read(json, ExpenseAnswer::new); }
        public String supplier() { return json.get("supplier").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public String kind() { return json.get("kind").text(); }
        public String isrType() { return json.get("isrType").text(); }
        public String payment() { return json.get("payment").text(); }
        public Long paidAfter() { return whole(json.get("paidAfter")); }
        public String paidOn() { return json.get("paidOn").text(); }
        public String itbis() { return json.get("itbis").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class ExpenseRequest extends Request<ExpenseRequest> {
        public ExpenseRequest kind(String value) { return put("kind", value); }
        public ExpenseRequest eNCF(String value) { return put("eNCF", value); }
        public ExpenseRequest isrType(String value) { return put("isrType", value); }
        public ExpenseRequest payment(String value) { return put("payment", value); }
        public ExpenseRequest paidAfter(long value) { return put("paidAfter", value); }
        public ExpenseRequest paidOn(String value) { return put("paidOn", value); }
        public ExpenseRequest itbis(String value) { return put("itbis", value); }
    }

    public record ExplainedMessage(Json json) {
        public static ExplainedMessage from(Json json) { return read(json, ExplainedMessage::new); }
        public String codigo() { return json.get("codigo").text(); }
        public String meaning() { return json.get("meaning").text(); }
        public String action() { return json.get("action").text(); }
    }

    public record FailedRequestAnswer(Json json) {
        public static FailedRequestAnswer from(Json json) { return read(json, FailedRequestAnswer::new); }
        public String id() { return json.get("id").text(); }
        public String at() { return json.get("at").text(); }
        public String environment() { return json.get("environment").text(); }
        public String apiKeyId() { return json.get("apiKeyId").text(); }
        public String requestId() { return json.get("requestId").text(); }
        public String method() { return json.get("method").text(); }
        public String route() { return json.get("route").text(); }
        public String path() { return json.get("path").text(); }
        public Long status() { return whole(json.get("status")); }
        public Long durationMs() { return whole(json.get("durationMs")); }
        public String message() { return json.get("message").text(); }
        public String messageEs() { return json.get("messageEs").text(); }
        public String body() { return json.get("body").text(); }
    }

    public record FailedRequestsAnswer(Json json) {
        public static FailedRequestsAnswer from(Json json) { return read(json, FailedRequestsAnswer::new); }
        public Long limit() { return whole(json.get("limit")); }
        public List<FailedRequestAnswer> items() { return list(json.get("items"), FailedRequestAnswer::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public static final class GivenAhead extends Request<GivenAhead> {
        public GivenAhead minSequence(long value) { return put("minSequence", value); }
        public GivenAhead maxSequence(long value) { return put("maxSequence", value); }
        public GivenAhead expireAt(String value) { return put("expireAt", value); }
    }

    public record Handing(Json json) {
        public static Handing from(Json json) { return read(json, Handing::new); }
        public String state() { return json.get("state").text(); }
        public String reason() { return json.get("reason").text(); }
        public String at() { return json.get("at").text(); }
    }

    public record ImportAnswer(Json json) {
        public static ImportAnswer from(Json json) { return read(json, ImportAnswer::new); }
        public String importId() { return json.get("importId").text(); }
        public String environment() { return json.get("environment").text(); }
        public String name() { return json.get("name").text(); }
        public String state() { return json.get("state").text(); }
        public String createdAt() { return json.get("createdAt").text(); }
        public Long receipts() { return whole(json.get("receipts")); }
        public Long waiting() { return whole(json.get("waiting")); }
        public Long valid() { return whole(json.get("valid")); }
        public Long faulty() { return whole(json.get("faulty")); }
        public Long issued() { return whole(json.get("issued")); }
        public Long issuedBefore() { return whole(json.get("issuedBefore")); }
        public Long failed() { return whole(json.get("failed")); }
        public List<ImportedType> types() { return list(json.get("types"), ImportedType::from); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public List<String> notes() { return list(json.get("notes"), Json::text); }
        public List<ImportFault> faults() { return list(json.get("faults"), ImportFault::from); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record ImportFault(Json json) {
        public static ImportFault from(Json json) { return read(json, ImportFault::new); }
        public Long row() { return whole(json.get("row")); }
        public String column() { return json.get("column").text(); }
        public String heading() { return json.get("heading").text(); }
        public String message() { return json.get("message").text(); }
        public String messageEs() { return json.get("messageEs").text(); }
    }

    public static final class ImportRequest extends Request<ImportRequest> {
        public ImportRequest name(String value) { return put("name", value); }
        public ImportRequest content(String value) { return put("content", value); }
    }

    public record ImportedType(Json json) {
        public static ImportedType from(Json json) { return read(json, ImportedType::new); }
        public String prefix() { return json.get("prefix").text(); }
        public Long receipts() { return whole(json.get("receipts")); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
    }

    public record IncidentAnswer(Json json) {
        public static IncidentAnswer from(Json json) { return read(json, IncidentAnswer::new); }
        public String state() { return json.get("state").text(); }
        public String since() { return json.get("since").text(); }
        public String until() { return json.get("until").text(); }
    }

    public record IncompletePurchase(Json json) {
        public static IncompletePurchase from(Json json) { return read(json, IncompletePurchase::new); }
        public String supplier() { return json.get("supplier").text(); }
        public String supplierName() { return json.get("supplierName").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public String issuedOn() { return json.get("issuedOn").text(); }
        public List<String> missing() { return list(json.get("missing"), Json::text); }
        public String message() { return json.get("message").text(); }
        public String messageEs() { return json.get("messageEs").text(); }
    }

    public record InvoicePreview(Json json) {
        public static InvoicePreview from(Json json) { return read(json, InvoicePreview::new); }
        public Boolean valid() { return truth(json.get("valid")); }
        public List<DocumentProblem> problems() { return list(json.get("problems"), DocumentProblem::from); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public BigDecimal totalITBIS() { return json.get("totalITBIS").amount(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public String razonSocialComprador() { return json.get("razonSocialComprador").text(); }
        public String fechaEmision() { return json.get("fechaEmision").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public Json payload() { return json.get("payload"); }
        public String xml() { return json.get("xml").text(); }
    }

    public record IssuedOfMonth(Json json) {
        public static IssuedOfMonth from(Json json) { return read(json, IssuedOfMonth::new); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public String status() { return json.get("status").text(); }
        public Long receipts() { return whole(json.get("receipts")); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public BigDecimal totalITBIS() { return json.get("totalITBIS").amount(); }
        public BigDecimal taxed18() { return json.get("taxed18").amount(); }
        public BigDecimal itbis18() { return json.get("itbis18").amount(); }
        public BigDecimal taxed16() { return json.get("taxed16").amount(); }
        public BigDecimal itbis16() { return json.get("itbis16").amount(); }
        public BigDecimal taxed0() { return json.get("taxed0").amount(); }
        public BigDecimal exempt() { return json.get("exempt").amount(); }
        public BigDecimal itbisWithheld() { return json.get("itbisWithheld").amount(); }
        public BigDecimal isrWithheld() { return json.get("isrWithheld").amount(); }
        public Long withoutAmounts() { return whole(json.get("withoutAmounts")); }
    }

    public record Lease(Json json) {
        public static Lease from(Json json) { return read(json, Lease::new); }
        public String agentId() { return json.get("agentId").text(); }
        public String environment() { return json.get("environment").text(); }
        public Long epoch() { return whole(json.get("epoch")); }
        public Json issuer() { return json.get("issuer"); }
        public String consumerSummary() { return json.get("consumerSummary").text(); }
        public String ecfHost() { return json.get("ecfHost").text(); }
        public String fcHost() { return json.get("fcHost").text(); }
        public List<NumberSequence> sequences() { return list(json.get("sequences"), NumberSequence::from); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class LeaseRequest extends Request<LeaseRequest> {
        public LeaseRequest epoch(long value) { return put("epoch", value); }
        public LeaseRequest nonce(String value) { return put("nonce", value); }
        public LeaseRequest certificate(String value) { return put("certificate", value); }
    }

    public static final class LoginRequest extends Request<LoginRequest> {
        public LoginRequest apiKeyId(String value) { return put("apiKeyId", value); }
        public LoginRequest apiSecret(String value) { return put("apiSecret", value); }
    }

    public record MailSettingsAnswer(Json json) {
        public static MailSettingsAnswer from(Json json) { return read(json, MailSettingsAnswer::new); }
        public Boolean enabled() { return truth(json.get("enabled")); }
        public String replyTo() { return json.get("replyTo").text(); }
        public String language() { return json.get("language").text(); }
        public String documents() { return json.get("documents").text(); }
        public Long aDay() { return whole(json.get("aDay")); }
        public Long aDayAllowed() { return whole(json.get("aDayAllowed")); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class MailSettingsRequest extends Request<MailSettingsRequest> {
        public MailSettingsRequest enabled(Boolean value) { return put("enabled", value); }
        public MailSettingsRequest replyTo(String value) { return put("replyTo", value); }
        public MailSettingsRequest language(String value) { return put("language", value); }
        public MailSettingsRequest documents(String value) { return put("documents", value); }
        public MailSettingsRequest aDay(long value) { return put("aDay", value); }
    }

    public record Mailing(Json json) {
        public static Mailing from(Json json) { return read(json, Mailing::new); }
        public String state() { return json.get("state").text(); }
        public String address() { return json.get("address").text(); }
        public String reason() { return json.get("reason").text(); }
        public String at() { return json.get("at").text(); }
    }

    public record ModeAnswer(Json json) {
        public static ModeAnswer from(Json json) { return read(json, ModeAnswer::new); }
        public String environment() { return json.get("environment").text(); }
        public String mode() { return json.get("mode").text(); }
        public String since() { return json.get("since").text(); }
        public List<OutageAnswer> outages() { return list(json.get("outages"), OutageAnswer::from); }
        public String reason() { return json.get("reason").text(); }
        public String number() { return json.get("number").text(); }
        public String validUntil() { return json.get("validUntil").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class ModeRequest extends Request<ModeRequest> {
        public ModeRequest mode(String value) { return put("mode", value); }
        public ModeRequest reason(String value) { return put("reason", value); }
    }

    public record MonthAnswer(Json json) {
        public static MonthAnswer from(Json json) { return read(json, MonthAnswer::new); }
        public String month() { return json.get("month").text(); }
        public String environment() { return json.get("environment").text(); }
        public MonthTotalsAnswer totals() { return MonthTotalsAnswer.from(json.get("totals")); }
        public List<IssuedOfMonth> issued() { return list(json.get("issued"), IssuedOfMonth::from); }
        public List<ReceivedOfMonth> received() { return list(json.get("received"), ReceivedOfMonth::from); }
        public List<NumbersOfMonth> numbers() { return list(json.get("numbers"), NumbersOfMonth::from); }
        public List<SequenceOfMonth> sequences() { return list(json.get("sequences"), SequenceOfMonth::from); }
        public Boolean isComplete() { return truth(json.get("isComplete")); }
    }

    public record MonthTotalsAnswer(Json json) {
        public static MonthTotalsAnswer from(Json json) { return read(json, MonthTotalsAnswer::new); }
        public BigDecimal sales() { return json.get("sales").amount(); }
        public BigDecimal itbisCharged() { return json.get("itbisCharged").amount(); }
        public BigDecimal taxed18() { return json.get("taxed18").amount(); }
        public BigDecimal taxed16() { return json.get("taxed16").amount(); }
        public BigDecimal taxed0() { return json.get("taxed0").amount(); }
        public BigDecimal exempt() { return json.get("exempt").amount(); }
        public BigDecimal ownPurchases() { return json.get("ownPurchases").amount(); }
        public BigDecimal itbisWithheld() { return json.get("itbisWithheld").amount(); }
        public BigDecimal isrWithheld() { return json.get("isrWithheld").amount(); }
        public BigDecimal received() { return json.get("received").amount(); }
        public BigDecimal itbisPaid() { return json.get("itbisPaid").amount(); }
    }

    public static final class NewGoblInvoice extends Request<NewGoblInvoice> {
        public NewGoblInvoice format(String value) { return put("format", value); }
        public NewGoblInvoice payload(Json value) { return put("payload", value); }
        public NewGoblInvoice clientRequestId(String value) { return put("clientRequestId", value); }
        public NewGoblInvoice asUser(String value) { return put("asUser", value); }
        public NewGoblInvoice asUserId(String value) { return put("asUserId", value); }
        public NewGoblInvoice keepSignature(Boolean value) { return put("keepSignature", value); }
        public NewGoblInvoice strict(Boolean value) { return put("strict", value); }
        public NewGoblInvoice simulate(Simulate value) { return put("simulate", value); }
        public NewGoblInvoice sequence(String value) { return put("sequence", value); }
        public NewGoblInvoice notify_(String value) { return put("notify", value); }
        public NewGoblInvoice metadata(Json value) { return put("metadata", value); }
    }

    public static final class NewSequence extends Request<NewSequence> {
        public NewSequence minSequence(long value) { return put("minSequence", value); }
        public NewSequence maxSequence(long value) { return put("maxSequence", value); }
        public NewSequence expireAt(String value) { return put("expireAt", value); }
        public NewSequence isActive(Boolean value) { return put("isActive", value); }
        public NewSequence users(List<String> value) { return put("users", value); }
        public NewSequence agentId(String value) { return put("agentId", value); }
        public NewSequence nextRange(GivenAhead value) { return put("nextRange", value); }
        public NewSequence prefix(String value) { return put("prefix", value); }
        public NewSequence name(String value) { return put("name", value); }
    }

    public static final class NewStructuredInvoice extends Request<NewStructuredInvoice> {
        public NewStructuredInvoice format(String value) { return put("format", value); }
        public NewStructuredInvoice payload(Object value) { return put("payload", value); }
        public NewStructuredInvoice clientRequestId(String value) { return put("clientRequestId", value); }
        public NewStructuredInvoice asUser(String value) { return put("asUser", value); }
        public NewStructuredInvoice asUserId(String value) { return put("asUserId", value); }
        public NewStructuredInvoice keepSignature(Boolean value) { return put("keepSignature", value); }
        public NewStructuredInvoice strict(Boolean value) { return put("strict", value); }
        public NewStructuredInvoice simulate(Simulate value) { return put("simulate", value); }
        public NewStructuredInvoice sequence(String value) { return put("sequence", value); }
        public NewStructuredInvoice notify_(String value) { return put("notify", value); }
        public NewStructuredInvoice metadata(Json value) { return put("metadata", value); }
    }

    public static final class NewXmlInvoice extends Request<NewXmlInvoice> {
        public NewXmlInvoice format(String value) { return put("format", value); }
        public NewXmlInvoice xml(String value) { return put("xml", value); }
        public NewXmlInvoice clientRequestId(String value) { return put("clientRequestId", value); }
        public NewXmlInvoice asUser(String value) { return put("asUser", value); }
        public NewXmlInvoice asUserId(String value) { return put("asUserId", value); }
        public NewXmlInvoice keepSignature(Boolean value) { return put("keepSignature", value); }
        public NewXmlInvoice strict(Boolean value) { return put("strict", value); }
        public NewXmlInvoice simulate(Simulate value) { return put("simulate", value); }
        public NewXmlInvoice sequence(String value) { return put("sequence", value); }
        public NewXmlInvoice notify_(String value) { return put("notify", value); }
        public NewXmlInvoice metadata(Json value) { return put("metadata", value); }
    }

    public record NotFound(Json json) {
        public static NotFound from(Json json) { return read(json, NotFound::new); }
        public Boolean found() { return truth(json.get("found")); }
        public String hint() { return json.get("hint").text(); }
    }

    public record NumberGapAnswer(Json json) {
        public static NumberGapAnswer from(Json json) { return read(json, NumberGapAnswer::new); }
        public String first() { return json.get("first").text(); }
        public String last() { return json.get("last").text(); }
    }

    public record NumberRangeAnswer(Json json) {
        public static NumberRangeAnswer from(Json json) { return read(json, NumberRangeAnswer::new); }
        public String first() { return json.get("first").text(); }
        public String last() { return json.get("last").text(); }
    }

    public record NumberSequence(Json json) {
        public static NumberSequence from(Json json) { return read(json, NumberSequence::new); }
        public String id() { return json.get("id").text(); }
        public String type() { return json.get("type").text(); }
        public String prefix() { return json.get("prefix").text(); }
        public String name() { return json.get("name").text(); }
        public List<String> users() { return list(json.get("users"), Json::text); }
        public String agentId() { return json.get("agentId").text(); }
        public String description() { return json.get("description").text(); }
        public String minSequence() { return json.get("minSequence").text(); }
        public String maxSequence() { return json.get("maxSequence").text(); }
        public String currentSequence() { return json.get("currentSequence").text(); }
        public Boolean isActive() { return truth(json.get("isActive")); }
        public String expireAt() { return json.get("expireAt").text(); }
        public String expireOn() { return json.get("expireOn").text(); }
        public String pausedAt() { return json.get("pausedAt").text(); }
        public String pausedFor() { return json.get("pausedFor").text(); }
        public RangeAhead nextRange() { return RangeAhead.from(json.get("nextRange")); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record NumbersOfMonth(Json json) {
        public static NumbersOfMonth from(Json json) { return read(json, NumbersOfMonth::new); }
        public String prefix() { return json.get("prefix").text(); }
        public String first() { return json.get("first").text(); }
        public String last() { return json.get("last").text(); }
        public Long drawn() { return whole(json.get("drawn")); }
        public Long accepted() { return whole(json.get("accepted")); }
        public Long rejected() { return whole(json.get("rejected")); }
        public Long failed() { return whole(json.get("failed")); }
        public Long others() { return whole(json.get("others")); }
        public Long withoutReceipt() { return whole(json.get("withoutReceipt")); }
        public Long void_() { return whole(json.get("void")); }
        public List<NumberGapAnswer> gaps() { return list(json.get("gaps"), NumberGapAnswer::from); }
    }

    public record OutageAnswer(Json json) {
        public static OutageAnswer from(Json json) { return read(json, OutageAnswer::new); }
        public String host() { return json.get("host").text(); }
        public String since() { return json.get("since").text(); }
    }

    public static final class PaperContent extends Request<PaperContent> {
        public PaperContent issuedOn(String value) { return put("issuedOn", value); }
        public PaperContent payload(Json value) { return put("payload", value); }
    }

    public record PaperEntered(Json json) {
        public static PaperEntered from(Json json) { return read(json, PaperEntered::new); }
        public Long statusCode() { return whole(json.get("statusCode")); }
        public String message() { return json.get("message").text(); }
        public String ncf() { return json.get("ncf").text(); }
        public PaperReceiptAnswer receipt() { return PaperReceiptAnswer.from(json.get("receipt")); }
        public List<DocumentProblem> problems() { return list(json.get("problems"), DocumentProblem::from); }
    }

    public record PaperEnteredAnswer(Json json) {
        public static PaperEnteredAnswer from(Json json) { return read(json, PaperEnteredAnswer::new); }
        public List<PaperEntered> items() { return list(json.get("items"), PaperEntered::from); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record PaperRangeAnswer(Json json) {
        public static PaperRangeAnswer from(Json json) { return read(json, PaperRangeAnswer::new); }
        public String rangeId() { return json.get("rangeId").text(); }
        public String environment() { return json.get("environment").text(); }
        public String first() { return json.get("first").text(); }
        public String last() { return json.get("last").text(); }
        public String next() { return json.get("next").text(); }
        public String expiresOn() { return json.get("expiresOn").text(); }
        public String recordedAt() { return json.get("recordedAt").text(); }
        public String recordedBy() { return json.get("recordedBy").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record PaperRangeDeleted(Json json) {
        public static PaperRangeDeleted from(Json json) { return read(json, PaperRangeDeleted::new); }
        public Boolean ok() { return truth(json.get("ok")); }
        public String rangeId() { return json.get("rangeId").text(); }
    }

    public static final class PaperRangeRequest extends Request<PaperRangeRequest> {
        public PaperRangeRequest first(String value) { return put("first", value); }
        public PaperRangeRequest last(String value) { return put("last", value); }
        public PaperRangeRequest expiresOn(String value) { return put("expiresOn", value); }
    }

    public record PaperRangesAnswer(Json json) {
        public static PaperRangesAnswer from(Json json) { return read(json, PaperRangesAnswer::new); }
        public List<PaperRangeAnswer> items() { return list(json.get("items"), PaperRangeAnswer::from); }
    }

    public record PaperReceiptAnswer(Json json) {
        public static PaperReceiptAnswer from(Json json) { return read(json, PaperReceiptAnswer::new); }
        public String ncf() { return json.get("ncf").text(); }
        public String environment() { return json.get("environment").text(); }
        public String issuedOn() { return json.get("issuedOn").text(); }
        public String expiresOn() { return json.get("expiresOn").text(); }
        public String contingency() { return json.get("contingency").text(); }
        public String buyerRnc() { return json.get("buyerRnc").text(); }
        public String buyerName() { return json.get("buyerName").text(); }
        public BigDecimal total() { return json.get("total").amount(); }
        public BigDecimal itbis() { return json.get("itbis").amount(); }
        public String state() { return json.get("state").text(); }
        public String replaceBy() { return json.get("replaceBy").text(); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public String replacedAt() { return json.get("replacedAt").text(); }
        public String clientRequestId() { return json.get("clientRequestId").text(); }
        public String enteredAt() { return json.get("enteredAt").text(); }
        public String enteredBy() { return json.get("enteredBy").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class PaperReceiptRequest extends Request<PaperReceiptRequest> {
        public PaperReceiptRequest issuedOn(String value) { return put("issuedOn", value); }
        public PaperReceiptRequest payload(Json value) { return put("payload", value); }
        public PaperReceiptRequest ncf(String value) { return put("ncf", value); }
        public PaperReceiptRequest clientRequestId(String value) { return put("clientRequestId", value); }
    }

    public record PaperReceiptsAnswer(Json json) {
        public static PaperReceiptsAnswer from(Json json) { return read(json, PaperReceiptsAnswer::new); }
        public List<PaperReceiptAnswer> items() { return list(json.get("items"), PaperReceiptAnswer::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public static final class PaperReceiptsRequest extends Request<PaperReceiptsRequest> {
        public PaperReceiptsRequest receipts(List<PaperReceiptRequest> value) { return put("receipts", value); }
    }

    public record PartStatus(Json json) {
        public static PartStatus from(Json json) { return read(json, PartStatus::new); }
        public String part() { return json.get("part").text(); }
        public String state() { return json.get("state").text(); }
        public String since() { return json.get("since").text(); }
        public List<DayStatus> days() { return list(json.get("days"), DayStatus::from); }
        public List<IncidentAnswer> incidents() { return list(json.get("incidents"), IncidentAnswer::from); }
    }

    public record PastOutage(Json json) {
        public static PastOutage from(Json json) { return read(json, PastOutage::new); }
        public String host() { return json.get("host").text(); }
        public String since() { return json.get("since").text(); }
        public String until() { return json.get("until").text(); }
    }

    public record PrefixName(Json json) {
        public static PrefixName from(Json json) { return read(json, PrefixName::new); }
        public String code() { return json.get("code").text(); }
        public String name() { return json.get("name").text(); }
        public String nameEs() { return json.get("nameEs").text(); }
    }

    public record PreviewAnswer(Json json) {
        public static PreviewAnswer from(Json json) { return read(json, PreviewAnswer::new); }
        public String dueOn() { return json.get("dueOn").text(); }
        public String type() { return json.get("type").text(); }
        public String buyerName() { return json.get("buyerName").text(); }
        public String buyerRnc() { return json.get("buyerRnc").text(); }
        public BigDecimal total() { return json.get("total").amount(); }
        public BigDecimal itbis() { return json.get("itbis").amount(); }
        public String reason() { return json.get("reason").text(); }
        public List<String> messages() { return list(json.get("messages"), Json::text); }
    }

    public static final class PrintManyRequest extends Request<PrintManyRequest> {
        public PrintManyRequest ids(List<String> value) { return put("ids", value); }
    }

    public record PrintSettingsAnswer(Json json) {
        public static PrintSettingsAnswer from(Json json) { return read(json, PrintSettingsAnswer::new); }
        public String logo() { return json.get("logo").text(); }
        public String accent() { return json.get("accent").text(); }
        public String footer() { return json.get("footer").text(); }
        public List<String> marks() { return list(json.get("marks"), Json::text); }
        public String language() { return json.get("language").text(); }
        public String layout() { return json.get("layout").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class PrintSettingsRequest extends Request<PrintSettingsRequest> {
        public PrintSettingsRequest logo(String value) { return put("logo", value); }
        public PrintSettingsRequest accent(String value) { return put("accent", value); }
        public PrintSettingsRequest footer(String value) { return put("footer", value); }
        public PrintSettingsRequest marks(List<String> value) { return put("marks", value); }
        public PrintSettingsRequest language(String value) { return put("language", value); }
        public PrintSettingsRequest layout(String value) { return put("layout", value); }
    }

    public record ProbeEvent(Json json) {
        public static ProbeEvent from(Json json) { return read(json, ProbeEvent::new); }
        public String event() { return json.get("event").text(); }
        public String sentAt() { return json.get("sentAt").text(); }
        public ProbeMessage test() { return ProbeMessage.from(json.get("test")); }
    }

    public record ProbeMessage(Json json) {
        public static ProbeMessage from(Json json) { return read(json, ProbeMessage::new); }
        public String message() { return json.get("message").text(); }
    }

    public record ProblemRepair(Json json) {
        public static ProblemRepair from(Json json) { return read(json, ProblemRepair::new); }
        public String op() { return json.get("op").text(); }
        public String path() { return json.get("path").text(); }
        public Json value() { return json.get("value"); }
        public String to() { return json.get("to").text(); }
        public Boolean certain() { return truth(json.get("certain")); }
    }

    public record ProductItem(Json json) {
        public static ProductItem from(Json json) { return read(json, ProductItem::new); }
        public String id() { return json.get("id").text(); }
        public String name() { return json.get("name").text(); }
        public String code() { return json.get("code").text(); }
        public String unit() { return json.get("unit").text(); }
        public BigDecimal price() { return json.get("price").amount(); }
        public Boolean priceHasItbis() { return truth(json.get("priceHasItbis")); }
        public String itbis() { return json.get("itbis").text(); }
        public String kind() { return json.get("kind").text(); }
        public List<String> additionalTaxes() { return list(json.get("additionalTaxes"), Json::text); }
        public String source() { return json.get("source").text(); }
        public Long version() { return whole(json.get("version")); }
        public String changedAt() { return json.get("changedAt").text(); }
        public String usedAt() { return json.get("usedAt").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record ProductList(Json json) {
        public static ProductList from(Json json) { return read(json, ProductList::new); }
        public Long limit() { return whole(json.get("limit")); }
        public List<ProductItem> items() { return list(json.get("items"), ProductItem::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public static final class ProductRequest extends Request<ProductRequest> {
        public ProductRequest name(String value) { return put("name", value); }
        public ProductRequest code(String value) { return put("code", value); }
        public ProductRequest unit(String value) { return put("unit", value); }
        public ProductRequest price(BigDecimal value) { return put("price", value); }
        public ProductRequest priceHasItbis(Boolean value) { return put("priceHasItbis", value); }
        public ProductRequest itbis(String value) { return put("itbis", value); }
        public ProductRequest kind(String value) { return put("kind", value); }
        public ProductRequest additionalTaxes(List<String> value) { return put("additionalTaxes", value); }
        public ProductRequest version(long value) { return put("version", value); }
    }

    public record ProposalsAnswer(Json json) {
        public static ProposalsAnswer from(Json json) { return read(json, ProposalsAnswer::new); }
        public List<ProposedRange> items() { return list(json.get("items"), ProposedRange::from); }
    }

    public record ProposedRange(Json json) {
        public static ProposedRange from(Json json) { return read(json, ProposedRange::new); }
        public String first() { return json.get("first").text(); }
        public String last() { return json.get("last").text(); }
        public Long numbers() { return whole(json.get("numbers")); }
        public String why() { return json.get("why").text(); }
    }

    public record PurchasesAnswer(Json json) {
        public static PurchasesAnswer from(Json json) { return read(json, PurchasesAnswer::new); }
        public String month() { return json.get("month").text(); }
        public String environment() { return json.get("environment").text(); }
        public String fileName() { return json.get("fileName").text(); }
        public Long rows() { return whole(json.get("rows")); }
        public Long incomplete() { return whole(json.get("incomplete")); }
        public List<IncompletePurchase> missing() { return list(json.get("missing"), IncompletePurchase::from); }
        public List<PurchasesRemark> remarks() { return list(json.get("remarks"), PurchasesRemark::from); }
        public String content() { return json.get("content").text(); }
    }

    public record PurchasesRemark(Json json) {
        public static PurchasesRemark from(Json json) { return read(json, PurchasesRemark::new); }
        public String code() { return json.get("code").text(); }
        public Long receipts() { return whole(json.get("receipts")); }
        public String message() { return json.get("message").text(); }
        public String messageEs() { return json.get("messageEs").text(); }
    }

    public record RangeAhead(Json json) {
        public static RangeAhead from(Json json) { return read(json, RangeAhead::new); }
        public String minSequence() { return json.get("minSequence").text(); }
        public String maxSequence() { return json.get("maxSequence").text(); }
        public String expireAt() { return json.get("expireAt").text(); }
        public String expireOn() { return json.get("expireOn").text(); }
    }

    public record ReceivedApproval(Json json) {
        public static ReceivedApproval from(Json json) { return read(json, ReceivedApproval::new); }
        public String decision() { return json.get("decision").text(); }
        public String reason() { return json.get("reason").text(); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String decidedAt() { return json.get("decidedAt").text(); }
        public ApprovalAtAuthority authority() { return ApprovalAtAuthority.from(json.get("authority")); }
        public Handing issuer() { return Handing.from(json.get("issuer")); }
    }

    public record ReceivedEcf(Json json) {
        public static ReceivedEcf from(Json json) { return read(json, ReceivedEcf::new); }
        public String id() { return json.get("id").text(); }
        public String encf() { return json.get("encf").text(); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public String rncEmisor() { return json.get("rncEmisor").text(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public String fechaEmision() { return json.get("fechaEmision").text(); }
        public String approvalStatus() { return json.get("approvalStatus").text(); }
        public String receivedAt() { return json.get("receivedAt").text(); }
    }

    public record ReceivedEcfEvent(Json json) {
        public static ReceivedEcfEvent from(Json json) { return read(json, ReceivedEcfEvent::new); }
        public String event() { return json.get("event").text(); }
        public String sentAt() { return json.get("sentAt").text(); }
        public ReceivedEcf receivedEcf() { return ReceivedEcf.from(json.get("receivedEcf")); }
        public String xml() { return json.get("xml").text(); }
    }

    public record ReceivedItem(Json json) {
        public static ReceivedItem from(Json json) { return read(json, ReceivedItem::new); }
        public String id() { return json.get("id").text(); }
        public String environment() { return json.get("environment").text(); }
        public String encf() { return json.get("encf").text(); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public String rncEmisor() { return json.get("rncEmisor").text(); }
        public String razonSocialEmisor() { return json.get("razonSocialEmisor").text(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public String fechaEmision() { return json.get("fechaEmision").text(); }
        public String approvalStatus() { return json.get("approvalStatus").text(); }
        public String receivedAt() { return json.get("receivedAt").text(); }
        public ReceivedApproval approval() { return ReceivedApproval.from(json.get("approval")); }
    }

    public record ReceivedOfMonth(Json json) {
        public static ReceivedOfMonth from(Json json) { return read(json, ReceivedOfMonth::new); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public Long receipts() { return whole(json.get("receipts")); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public BigDecimal totalITBIS() { return json.get("totalITBIS").amount(); }
        public Long rejected() { return whole(json.get("rejected")); }
    }

    public record ReceivedPage(Json json) {
        public static ReceivedPage from(Json json) { return read(json, ReceivedPage::new); }
        public Long page() { return whole(json.get("page")); }
        public Long limit() { return whole(json.get("limit")); }
        public Long total() { return whole(json.get("total")); }
        public List<ReceivedItem> items() { return list(json.get("items"), ReceivedItem::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public record ReceivedStretch(Json json) {
        public static ReceivedStretch from(Json json) { return read(json, ReceivedStretch::new); }
        public Long limit() { return whole(json.get("limit")); }
        public List<ReceivedItem> items() { return list(json.get("items"), ReceivedItem::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public record ReceivedXml(Json json) {
        public static ReceivedXml from(Json json) { return read(json, ReceivedXml::new); }
        public String id() { return json.get("id").text(); }
        public String environment() { return json.get("environment").text(); }
        public String xml() { return json.get("xml").text(); }
        public String acknowledgement() { return json.get("acknowledgement").text(); }
    }

    public record Recoveries(Json json) {
        public static Recoveries from(Json json) { return read(json, Recoveries::new); }
        public List<Recovery> items() { return list(json.get("items"), Recovery::from); }
    }

    public record Recovery(Json json) {
        public static Recovery from(Json json) { return read(json, Recovery::new); }
        public String id() { return json.get("id").text(); }
        public String webhookId() { return json.get("webhookId").text(); }
        public String since() { return json.get("since").text(); }
        public String until() { return json.get("until").text(); }
        public String state() { return json.get("state").text(); }
        public Long recovered() { return whole(json.get("recovered")); }
        public String askedAt() { return json.get("askedAt").text(); }
        public String finishedAt() { return json.get("finishedAt").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class RecoveryRequest extends Request<RecoveryRequest> {
        public RecoveryRequest since(String value) { return put("since", value); }
        public RecoveryRequest endpoint(String value) { return put("endpoint", value); }
    }

    public record RecurringAnswer(Json json) {
        public static RecurringAnswer from(Json json) { return read(json, RecurringAnswer::new); }
        public String id() { return json.get("id").text(); }
        public String name() { return json.get("name").text(); }
        public String status() { return json.get("status").text(); }
        public Long day() { return whole(json.get("day")); }
        public Long everyMonths() { return whole(json.get("everyMonths")); }
        public String nextOn() { return json.get("nextOn").text(); }
        public Long held() { return whole(json.get("held")); }
        public Long version() { return whole(json.get("version")); }
        public String changedAt() { return json.get("changedAt").text(); }
        public String environment() { return json.get("environment").text(); }
        public String startsOn() { return json.get("startsOn").text(); }
        public String endsOn() { return json.get("endsOn").text(); }
        public List<String> nextDays() { return list(json.get("nextDays"), Json::text); }
        public String customer() { return json.get("customer").text(); }
        public Long paymentDays() { return whole(json.get("paymentDays")); }
        public Json payload() { return json.get("payload"); }
        public String asUser() { return json.get("asUser").text(); }
        public String asUserId() { return json.get("asUserId").text(); }
        public String notify_() { return json.get("notify").text(); }
        public String sequence() { return json.get("sequence").text(); }
        public PreviewAnswer preview() { return PreviewAnswer.from(json.get("preview")); }
        public List<RecurringTurn> turns() { return list(json.get("turns"), RecurringTurn::from); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record RecurringDeleted(Json json) {
        public static RecurringDeleted from(Json json) { return read(json, RecurringDeleted::new); }
        public Boolean ok() { return truth(json.get("ok")); }
        public String id() { return json.get("id").text(); }
    }

    public record RecurringHeld(Json json) {
        public static RecurringHeld from(Json json) { return read(json, RecurringHeld::new); }
        public String id() { return json.get("id").text(); }
        public String name() { return json.get("name").text(); }
        public String environment() { return json.get("environment").text(); }
        public String dueOn() { return json.get("dueOn").text(); }
        public String reason() { return json.get("reason").text(); }
        public List<String> messages() { return list(json.get("messages"), Json::text); }
        public List<String> messagesEs() { return list(json.get("messagesEs"), Json::text); }
    }

    public record RecurringHeldEvent(Json json) {
        public static RecurringHeldEvent from(Json json) { return read(json, RecurringHeldEvent::new); }
        public String event() { return json.get("event").text(); }
        public String sentAt() { return json.get("sentAt").text(); }
        public RecurringHeld recurring() { return RecurringHeld.from(json.get("recurring")); }
    }

    public record RecurringList(Json json) {
        public static RecurringList from(Json json) { return read(json, RecurringList::new); }
        public Long limit() { return whole(json.get("limit")); }
        public List<RecurringSummary> items() { return list(json.get("items"), RecurringSummary::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
    }

    public record RecurringPreview(Json json) {
        public static RecurringPreview from(Json json) { return read(json, RecurringPreview::new); }
        public String id() { return json.get("id").text(); }
        public String name() { return json.get("name").text(); }
        public String environment() { return json.get("environment").text(); }
        public String dueOn() { return json.get("dueOn").text(); }
        public String type() { return json.get("type").text(); }
        public String buyerName() { return json.get("buyerName").text(); }
        public String buyerRnc() { return json.get("buyerRnc").text(); }
        public BigDecimal total() { return json.get("total").amount(); }
        public BigDecimal itbis() { return json.get("itbis").amount(); }
        public String reason() { return json.get("reason").text(); }
        public List<String> messages() { return list(json.get("messages"), Json::text); }
        public List<String> messagesEs() { return list(json.get("messagesEs"), Json::text); }
    }

    public record RecurringPreviewEvent(Json json) {
        public static RecurringPreviewEvent from(Json json) { return read(json, RecurringPreviewEvent::new); }
        public String event() { return json.get("event").text(); }
        public String sentAt() { return json.get("sentAt").text(); }
        public RecurringPreview recurring() { return RecurringPreview.from(json.get("recurring")); }
    }

    public static final class RecurringRequest extends Request<RecurringRequest> {
        public RecurringRequest name(String value) { return put("name", value); }
        public RecurringRequest day(long value) { return put("day", value); }
        public RecurringRequest everyMonths(long value) { return put("everyMonths", value); }
        public RecurringRequest startsOn(String value) { return put("startsOn", value); }
        public RecurringRequest endsOn(String value) { return put("endsOn", value); }
        public RecurringRequest status(String value) { return put("status", value); }
        public RecurringRequest customer(String value) { return put("customer", value); }
        public RecurringRequest paymentDays(long value) { return put("paymentDays", value); }
        public RecurringRequest payload(Json value) { return put("payload", value); }
        public RecurringRequest asUser(String value) { return put("asUser", value); }
        public RecurringRequest asUserId(String value) { return put("asUserId", value); }
        public RecurringRequest notify_(String value) { return put("notify", value); }
        public RecurringRequest sequence(String value) { return put("sequence", value); }
        public RecurringRequest version(long value) { return put("version", value); }
    }

    public record RecurringSummary(Json json) {
        public static RecurringSummary from(Json json) { return read(json, RecurringSummary::new); }
        public String id() { return json.get("id").text(); }
        public String name() { return json.get("name").text(); }
        public String status() { return json.get("status").text(); }
        public Long day() { return whole(json.get("day")); }
        public Long everyMonths() { return whole(json.get("everyMonths")); }
        public String nextOn() { return json.get("nextOn").text(); }
        public Long held() { return whole(json.get("held")); }
        public Long version() { return whole(json.get("version")); }
        public String changedAt() { return json.get("changedAt").text(); }
    }

    public record RecurringTurn(Json json) {
        public static RecurringTurn from(Json json) { return read(json, RecurringTurn::new); }
        public String month() { return json.get("month").text(); }
        public String dueOn() { return json.get("dueOn").text(); }
        public String status() { return json.get("status").text(); }
        public String reason() { return json.get("reason").text(); }
        public List<String> messages() { return list(json.get("messages"), Json::text); }
        public String triedAt() { return json.get("triedAt").text(); }
        public String retryAt() { return json.get("retryAt").text(); }
        public String clientRequestId() { return json.get("clientRequestId").text(); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
    }

    public static final class RejectReceived extends Request<RejectReceived> {
        public RejectReceived clientRequestId(String value) { return put("clientRequestId", value); }
        public RejectReceived asUser(String value) { return put("asUser", value); }
        public RejectReceived asUserId(String value) { return put("asUserId", value); }
        public RejectReceived reason(String value) { return put("reason", value); }
    }

    public record ReplacementItem(Json json) {
        public static ReplacementItem from(Json json) { return read(json, ReplacementItem::new); }
        public String ncf() { return json.get("ncf").text(); }
        public String state() { return json.get("state").text(); }
        public Boolean issued() { return truth(json.get("issued")); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public List<DocumentProblem> problems() { return list(json.get("problems"), DocumentProblem::from); }
    }

    public record ReplacementsAnswer(Json json) {
        public static ReplacementsAnswer from(Json json) { return read(json, ReplacementsAnswer::new); }
        public List<ReplacementItem> items() { return list(json.get("items"), ReplacementItem::from); }
        public Long open() { return whole(json.get("open")); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class ReplacementsRequest extends Request<ReplacementsRequest> {
        public ReplacementsRequest ncfs(List<String> value) { return put("ncfs", value); }
    }

    public record RevokedAnswer(Json json) {
        public static RevokedAnswer from(Json json) { return read(json, RevokedAnswer::new); }
        public Boolean ok() { return truth(json.get("ok")); }
        public Boolean revoked() { return truth(json.get("revoked")); }
    }

    public static final class Rfce extends Request<Rfce> {
        public Rfce Encabezado(RfceEncabezado value) { return put("Encabezado", value); }
    }

    public static final class RfceComprador extends Request<RfceComprador> {
        public RfceComprador RNCComprador(String value) { return put("RNCComprador", value); }
        public RfceComprador IdentificadorExtranjero(String value) { return put("IdentificadorExtranjero", value); }
        public RfceComprador RazonSocialComprador(String value) { return put("RazonSocialComprador", value); }
    }

    public static final class RfceEmisor extends Request<RfceEmisor> {
        public RfceEmisor RNCEmisor(String value) { return put("RNCEmisor", value); }
        public RfceEmisor RazonSocialEmisor(String value) { return put("RazonSocialEmisor", value); }
        public RfceEmisor FechaEmision(String value) { return put("FechaEmision", value); }
    }

    public static final class RfceEncabezado extends Request<RfceEncabezado> {
        public RfceEncabezado Version(String value) { return put("Version", value); }
        public RfceEncabezado IdDoc(RfceIdDoc value) { return put("IdDoc", value); }
        public RfceEncabezado Emisor(RfceEmisor value) { return put("Emisor", value); }
        public RfceEncabezado Comprador(RfceComprador value) { return put("Comprador", value); }
        public RfceEncabezado Totales(RfceTotales value) { return put("Totales", value); }
        public RfceEncabezado CodigoSeguridadeCF(String value) { return put("CodigoSeguridadeCF", value); }
    }

    public static final class RfceFormaDePago extends Request<RfceFormaDePago> {
        public RfceFormaDePago FormaPago(String value) { return put("FormaPago", value); }
        public RfceFormaDePago MontoPago(BigDecimal value) { return put("MontoPago", value); }
    }

    public static final class RfceIdDoc extends Request<RfceIdDoc> {
        public RfceIdDoc TipoeCF(String value) { return put("TipoeCF", value); }
        public RfceIdDoc eNCF(String value) { return put("eNCF", value); }
        public RfceIdDoc TipoIngresos(String value) { return put("TipoIngresos", value); }
        public RfceIdDoc TipoPago(String value) { return put("TipoPago", value); }
        public RfceIdDoc TablaFormasPago(RfceTablaFormasPago value) { return put("TablaFormasPago", value); }
    }

    public static final class RfceImpuestoAdicional extends Request<RfceImpuestoAdicional> {
        public RfceImpuestoAdicional TipoImpuesto(String value) { return put("TipoImpuesto", value); }
        public RfceImpuestoAdicional MontoImpuestoSelectivoConsumoEspecifico(BigDecimal value) { return put("MontoImpuestoSelectivoConsumoEspecifico", value); }
        public RfceImpuestoAdicional MontoImpuestoSelectivoConsumoAdvalorem(BigDecimal value) { return put("MontoImpuestoSelectivoConsumoAdvalorem", value); }
        public RfceImpuestoAdicional OtrosImpuestosAdicionales(BigDecimal value) { return put("OtrosImpuestosAdicionales", value); }
    }

    public static final class RfceImpuestosAdicionales extends Request<RfceImpuestosAdicionales> {
        public RfceImpuestosAdicionales ImpuestoAdicional(List<RfceImpuestoAdicional> value) { return put("ImpuestoAdicional", value); }
    }

    public static final class RfcePayload extends Request<RfcePayload> {
        public RfcePayload RFCE(Rfce value) { return put("RFCE", value); }
    }

    public static final class RfceTablaFormasPago extends Request<RfceTablaFormasPago> {
        public RfceTablaFormasPago FormaDePago(List<RfceFormaDePago> value) { return put("FormaDePago", value); }
    }

    public static final class RfceTotales extends Request<RfceTotales> {
        public RfceTotales MontoGravadoTotal(BigDecimal value) { return put("MontoGravadoTotal", value); }
        public RfceTotales MontoGravadoI1(BigDecimal value) { return put("MontoGravadoI1", value); }
        public RfceTotales MontoGravadoI2(BigDecimal value) { return put("MontoGravadoI2", value); }
        public RfceTotales MontoGravadoI3(BigDecimal value) { return put("MontoGravadoI3", value); }
        public RfceTotales MontoExento(BigDecimal value) { return put("MontoExento", value); }
        public RfceTotales TotalITBIS(BigDecimal value) { return put("TotalITBIS", value); }
        public RfceTotales TotalITBIS1(BigDecimal value) { return put("TotalITBIS1", value); }
        public RfceTotales TotalITBIS2(BigDecimal value) { return put("TotalITBIS2", value); }
        public RfceTotales TotalITBIS3(BigDecimal value) { return put("TotalITBIS3", value); }
        public RfceTotales MontoImpuestoAdicional(BigDecimal value) { return put("MontoImpuestoAdicional", value); }
        public RfceTotales ImpuestosAdicionales(RfceImpuestosAdicionales value) { return put("ImpuestosAdicionales", value); }
        public RfceTotales MontoTotal(BigDecimal value) { return put("MontoTotal", value); }
        public RfceTotales MontoNoFacturable(BigDecimal value) { return put("MontoNoFacturable", value); }
        public RfceTotales MontoPeriodo(BigDecimal value) { return put("MontoPeriodo", value); }
    }

    public record SandboxApproval(Json json) {
        public static SandboxApproval from(Json json) { return read(json, SandboxApproval::new); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public String decision() { return json.get("decision").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class SandboxApprovalRequest extends Request<SandboxApprovalRequest> {
        public SandboxApprovalRequest taxLogId(String value) { return put("taxLogId", value); }
        public SandboxApprovalRequest decision(String value) { return put("decision", value); }
        public SandboxApprovalRequest reason(String value) { return put("reason", value); }
    }

    public record SandboxOutage(Json json) {
        public static SandboxOutage from(Json json) { return read(json, SandboxOutage::new); }
        public String environment() { return json.get("environment").text(); }
        public String since() { return json.get("since").text(); }
        public String until() { return json.get("until").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class SandboxOutageRequest extends Request<SandboxOutageRequest> {
        public SandboxOutageRequest seconds(long value) { return put("seconds", value); }
    }

    public record SandboxReceipt(Json json) {
        public static SandboxReceipt from(Json json) { return read(json, SandboxReceipt::new); }
        public String receivedId() { return json.get("receivedId").text(); }
        public String rncEmisor() { return json.get("rncEmisor").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class SandboxReceiptRequest extends Request<SandboxReceiptRequest> {
        public SandboxReceiptRequest eNCF(String value) { return put("eNCF", value); }
    }

    public record SequenceEvent(Json json) {
        public static SequenceEvent from(Json json) { return read(json, SequenceEvent::new); }
        public String event() { return json.get("event").text(); }
        public String sentAt() { return json.get("sentAt").text(); }
        public SequenceState sequence() { return SequenceState.from(json.get("sequence")); }
    }

    public record SequenceOfMonth(Json json) {
        public static SequenceOfMonth from(Json json) { return read(json, SequenceOfMonth::new); }
        public String prefix() { return json.get("prefix").text(); }
        public String name() { return json.get("name").text(); }
        public Long receipts() { return whole(json.get("receipts")); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public String first() { return json.get("first").text(); }
        public String last() { return json.get("last").text(); }
    }

    public record SequenceState(Json json) {
        public static SequenceState from(Json json) { return read(json, SequenceState::new); }
        public String environment() { return json.get("environment").text(); }
        public String prefix() { return json.get("prefix").text(); }
        public String name() { return json.get("name").text(); }
        public String currentSequence() { return json.get("currentSequence").text(); }
        public String maxSequence() { return json.get("maxSequence").text(); }
        public String remaining() { return json.get("remaining").text(); }
        public String expireOn() { return json.get("expireOn").text(); }
    }

    public record Sequences(Json json) {
        public static Sequences from(Json json) { return read(json, Sequences::new); }
        public List<PrefixName> availableTypes() { return list(json.get("availableTypes"), PrefixName::from); }
        public List<NumberSequence> items() { return list(json.get("items"), NumberSequence::from); }
    }

    public record ServiceHealth(Json json) {
        public static ServiceHealth from(Json json) { return read(json, ServiceHealth::new); }
        public String service() { return json.get("service").text(); }
        public Long answered() { return whole(json.get("answered")); }
        public Long failed() { return whole(json.get("failed")); }
        public Long averageMs() { return whole(json.get("averageMs")); }
        public Long slowestMs() { return whole(json.get("slowestMs")); }
    }

    public record SharedAnswer(Json json) {
        public static SharedAnswer from(Json json) { return read(json, SharedAnswer::new); }
        public String url() { return json.get("url").text(); }
        public String sharedAt() { return json.get("sharedAt").text(); }
    }

    public static final class Simulate extends Request<Simulate> {
        public Simulate outcome(String value) { return put("outcome", value); }
        public Simulate code(long value) { return put("code", value); }
        public Simulate seconds(long value) { return put("seconds", value); }
        public Simulate now(String value) { return put("now", value); }
    }

    public record StatusAnswer(Json json) {
        public static StatusAnswer from(Json json) { return read(json, StatusAnswer::new); }
        public String state() { return json.get("state").text(); }
        public String measuredAt() { return json.get("measuredAt").text(); }
        public List<PartStatus> parts() { return list(json.get("parts"), PartStatus::from); }
    }

    public record Submission(Json json) {
        public static Submission from(Json json) { return read(json, Submission::new); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String trackId() { return json.get("trackId").text(); }
        public String environment() { return json.get("environment").text(); }
        public String status() { return json.get("status").text(); }
        public String qrCodeUrl() { return json.get("qrCodeUrl").text(); }
        public String securityCode() { return json.get("securityCode").text(); }
        public String ncfExpiration() { return json.get("ncfExpiration").text(); }
        public String fechaHoraFirma() { return json.get("fechaHoraFirma").text(); }
        public Json response() { return json.get("response"); }
        public String submittedAt() { return json.get("submittedAt").text(); }
        public String updatedAt() { return json.get("updatedAt").text(); }
        public String clientRequestId() { return json.get("clientRequestId").text(); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public BigDecimal totalITBIS() { return json.get("totalITBIS").amount(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public String razonSocialComprador() { return json.get("razonSocialComprador").text(); }
        public String fechaEmision() { return json.get("fechaEmision").text(); }
        public Boolean readyToPrint() { return truth(json.get("readyToPrint")); }
        public SubmissionFacts facts() { return SubmissionFacts.from(json.get("facts")); }
        public String eNCF() { return json.get("eNCF").text(); }
        public String numberFate() { return json.get("numberFate").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
        public List<ExplainedMessage> explained() { return list(json.get("explained"), ExplainedMessage::from); }
        public String approvalStatus() { return json.get("approvalStatus").text(); }
        public String approvalReason() { return json.get("approvalReason").text(); }
        public String approvalAt() { return json.get("approvalAt").text(); }
        public Handing receiver() { return Handing.from(json.get("receiver")); }
        public Mailing mail() { return Mailing.from(json.get("mail")); }
        public String replacesNcf() { return json.get("replacesNcf").text(); }
        public Boolean archived() { return truth(json.get("archived")); }
        public Json metadata() { return json.get("metadata"); }
        public String legend() { return json.get("legend").text(); }
    }

    public record SubmissionEvent(Json json) {
        public static SubmissionEvent from(Json json) { return read(json, SubmissionEvent::new); }
        public String event() { return json.get("event").text(); }
        public String sentAt() { return json.get("sentAt").text(); }
        public SubmissionSummary submission() { return SubmissionSummary.from(json.get("submission")); }
    }

    public record SubmissionFacts(Json json) {
        public static SubmissionFacts from(Json json) { return read(json, SubmissionFacts::new); }
        public String signedAt() { return json.get("signedAt").text(); }
        public String sendBy() { return json.get("sendBy").text(); }
        public String receivedAt() { return json.get("receivedAt").text(); }
        public String verdictAt() { return json.get("verdictAt").text(); }
        public String deliveredAt() { return json.get("deliveredAt").text(); }
    }

    public record SubmissionItem(Json json) {
        public static SubmissionItem from(Json json) { return read(json, SubmissionItem::new); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String trackId() { return json.get("trackId").text(); }
        public String environment() { return json.get("environment").text(); }
        public String status() { return json.get("status").text(); }
        public String qrCodeUrl() { return json.get("qrCodeUrl").text(); }
        public String submittedAt() { return json.get("submittedAt").text(); }
        public String updatedAt() { return json.get("updatedAt").text(); }
        public String clientRequestId() { return json.get("clientRequestId").text(); }
        public String securityCode() { return json.get("securityCode").text(); }
        public String fechaHoraFirma() { return json.get("fechaHoraFirma").text(); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public BigDecimal totalITBIS() { return json.get("totalITBIS").amount(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public String razonSocialComprador() { return json.get("razonSocialComprador").text(); }
        public String fechaEmision() { return json.get("fechaEmision").text(); }
        public Boolean readyToPrint() { return truth(json.get("readyToPrint")); }
        public SubmissionFacts facts() { return SubmissionFacts.from(json.get("facts")); }
        public String eNCF() { return json.get("eNCF").text(); }
        public Json metadata() { return json.get("metadata"); }
    }

    public record SubmissionPage(Json json) {
        public static SubmissionPage from(Json json) { return read(json, SubmissionPage::new); }
        public Long page() { return whole(json.get("page")); }
        public Long limit() { return whole(json.get("limit")); }
        public Long total() { return whole(json.get("total")); }
        public List<SubmissionItem> items() { return list(json.get("items"), SubmissionItem::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record SubmissionStretch(Json json) {
        public static SubmissionStretch from(Json json) { return read(json, SubmissionStretch::new); }
        public Long limit() { return whole(json.get("limit")); }
        public List<SubmissionItem> items() { return list(json.get("items"), SubmissionItem::from); }
        public String nextCursor() { return json.get("nextCursor").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record SubmissionSummary(Json json) {
        public static SubmissionSummary from(Json json) { return read(json, SubmissionSummary::new); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String clientRequestId() { return json.get("clientRequestId").text(); }
        public String environment() { return json.get("environment").text(); }
        public String status() { return json.get("status").text(); }
        public String eNCF() { return json.get("eNCF").text(); }
        public String numberFate() { return json.get("numberFate").text(); }
        public String trackId() { return json.get("trackId").text(); }
        public String securityCode() { return json.get("securityCode").text(); }
        public String qrCodeUrl() { return json.get("qrCodeUrl").text(); }
        public Json response() { return json.get("response"); }
        public String updatedAt() { return json.get("updatedAt").text(); }
        public String fechaHoraFirma() { return json.get("fechaHoraFirma").text(); }
        public String tipoEcf() { return json.get("tipoEcf").text(); }
        public BigDecimal montoTotal() { return json.get("montoTotal").amount(); }
        public BigDecimal totalITBIS() { return json.get("totalITBIS").amount(); }
        public String rncComprador() { return json.get("rncComprador").text(); }
        public String razonSocialComprador() { return json.get("razonSocialComprador").text(); }
        public String fechaEmision() { return json.get("fechaEmision").text(); }
        public Boolean readyToPrint() { return truth(json.get("readyToPrint")); }
        public Json metadata() { return json.get("metadata"); }
    }

    public record SubmissionXml(Json json) {
        public static SubmissionXml from(Json json) { return read(json, SubmissionXml::new); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String environment() { return json.get("environment").text(); }
        public String status() { return json.get("status").text(); }
        public String source() { return json.get("source").text(); }
        public String xml() { return json.get("xml").text(); }
    }

    public record TaxpayerAnswer(Json json) {
        public static TaxpayerAnswer from(Json json) { return read(json, TaxpayerAnswer::new); }
        public String rnc() { return json.get("rnc").text(); }
        public String name() { return json.get("name").text(); }
        public String tradeName() { return json.get("tradeName").text(); }
        public String activity() { return json.get("activity").text(); }
        public String status() { return json.get("status").text(); }
        public Boolean active() { return truth(json.get("active")); }
        public String regime() { return json.get("regime").text(); }
    }

    public record Timeline(Json json) {
        public static Timeline from(Json json) { return read(json, Timeline::new); }
        public String taxLogId() { return json.get("taxLogId").text(); }
        public String environment() { return json.get("environment").text(); }
        public String status() { return json.get("status").text(); }
        public List<TimelineEvent> events() { return list(json.get("events"), TimelineEvent::from); }
    }

    public record TimelineEvent(Json json) {
        public static TimelineEvent from(Json json) { return read(json, TimelineEvent::new); }
        public Long seq() { return whole(json.get("seq")); }
        public String at() { return json.get("at").text(); }
        public String kind() { return json.get("kind").text(); }
        public Json detail() { return json.get("detail"); }
    }

    public record Token(Json json) {
        public static Token from(Json json) { return read(json, Token::new); }
        public String accessToken() { return json.get("accessToken").text(); }
        public String tokenType() { return json.get("tokenType").text(); }
        public Long expiresIn() { return whole(json.get("expiresIn")); }
        public String environment() { return json.get("environment").text(); }
        public List<String> scopes() { return list(json.get("scopes"), Json::text); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public static final class TurnRequest extends Request<TurnRequest> {
        public TurnRequest action(String value) { return put("action", value); }
    }

    public record UsageItem(Json json) {
        public static UsageItem from(Json json) { return read(json, UsageItem::new); }
        public String date() { return json.get("date").text(); }
        public String environment() { return json.get("environment").text(); }
        public Long requestsTotal() { return whole(json.get("requestsTotal")); }
        public Long requestsSuccess() { return whole(json.get("requestsSuccess")); }
        public Long requestsError() { return whole(json.get("requestsError")); }
        public Long emissionsSubmitted() { return whole(json.get("emissionsSubmitted")); }
        public Long emissionsAccepted() { return whole(json.get("emissionsAccepted")); }
        public Long emissionsAcceptedConditional() { return whole(json.get("emissionsAcceptedConditional")); }
        public Long emissionsRejected() { return whole(json.get("emissionsRejected")); }
        public Long emissionsPending() { return whole(json.get("emissionsPending")); }
        public String bytesIn() { return json.get("bytesIn").text(); }
        public String bytesOut() { return json.get("bytesOut").text(); }
        public Long avgLatencyMs() { return whole(json.get("avgLatencyMs")); }
        public Long p95LatencyMs() { return whole(json.get("p95LatencyMs")); }
    }

    public record UsageReport(Json json) {
        public static UsageReport from(Json json) { return read(json, UsageReport::new); }
        public String from() { return json.get("from").text(); }
        public String to() { return json.get("to").text(); }
        public List<UsageItem> items() { return list(json.get("items"), UsageItem::from); }
        public UsageToday today() { return UsageToday.from(json.get("today")); }
    }

    public record UsageToday(Json json) {
        public static UsageToday from(Json json) { return read(json, UsageToday::new); }
        public String date() { return json.get("date").text(); }
        public Boolean isComplete() { return truth(json.get("isComplete")); }
        public List<UsageTodayItem> items() { return list(json.get("items"), UsageTodayItem::from); }
    }

    public record UsageTodayItem(Json json) {
        public static UsageTodayItem from(Json json) { return read(json, UsageTodayItem::new); }
        public String environment() { return json.get("environment").text(); }
        public Long emissionsSubmitted() { return whole(json.get("emissionsSubmitted")); }
        public Long emissionsAccepted() { return whole(json.get("emissionsAccepted")); }
        public Long emissionsAcceptedConditional() { return whole(json.get("emissionsAcceptedConditional")); }
        public Long emissionsRejected() { return whole(json.get("emissionsRejected")); }
        public Long emissionsPending() { return whole(json.get("emissionsPending")); }
    }

    public record Validation(Json json) {
        public static Validation from(Json json) { return read(json, Validation::new); }
        public Boolean valid() { return truth(json.get("valid")); }
        public List<DocumentProblem> problems() { return list(json.get("problems"), DocumentProblem::from); }
    }

    public record VoidedAnswer(Json json) {
        public static VoidedAnswer from(Json json) { return read(json, VoidedAnswer::new); }
        public String month() { return json.get("month").text(); }
        public String environment() { return json.get("environment").text(); }
        public String fileName() { return json.get("fileName").text(); }
        public Long rows() { return whole(json.get("rows")); }
        public String content() { return json.get("content").text(); }
    }

    public record VoidingAnswer(Json json) {
        public static VoidingAnswer from(Json json) { return read(json, VoidingAnswer::new); }
        public String voidingId() { return json.get("voidingId").text(); }
        public String environment() { return json.get("environment").text(); }
        public String state() { return json.get("state").text(); }
        public List<NumberRangeAnswer> ranges() { return list(json.get("ranges"), NumberRangeAnswer::from); }
        public Long numbers() { return whole(json.get("numbers")); }
        public Long reason() { return whole(json.get("reason")); }
        public String clientRequestId() { return json.get("clientRequestId").text(); }
        public String requestedAt() { return json.get("requestedAt").text(); }
        public String signedAt() { return json.get("signedAt").text(); }
        public String endedAt() { return json.get("endedAt").text(); }
        public String problem() { return json.get("problem").text(); }
    }

    public static final class VoidingRequest extends Request<VoidingRequest> {
        public VoidingRequest ranges(List<AskedRange> value) { return put("ranges", value); }
        public VoidingRequest reason(long value) { return put("reason", value); }
        public VoidingRequest clientRequestId(String value) { return put("clientRequestId", value); }
    }

    public record VoidingsAnswer(Json json) {
        public static VoidingsAnswer from(Json json) { return read(json, VoidingsAnswer::new); }
        public List<VoidingAnswer> items() { return list(json.get("items"), VoidingAnswer::from); }
    }

    public record Webhook(Json json) {
        public static Webhook from(Json json) { return read(json, Webhook::new); }
        public String id() { return json.get("id").text(); }
        public String environment() { return json.get("environment").text(); }
        public String name() { return json.get("name").text(); }
        public String url() { return json.get("url").text(); }
        public Boolean enabled() { return truth(json.get("enabled")); }
        public List<String> events() { return list(json.get("events"), Json::text); }
        public List<String> headers() { return list(json.get("headers"), Json::text); }
        public String createdAt() { return json.get("createdAt").text(); }
        public String updatedAt() { return json.get("updatedAt").text(); }
        public String failingSince() { return json.get("failingSince").text(); }
        public String disabledAt() { return json.get("disabledAt").text(); }
        public String disabledReason() { return json.get("disabledReason").text(); }
        public String oldSecretUntil() { return json.get("oldSecretUntil").text(); }
        public String secret() { return json.get("secret").text(); }
        public List<DocumentProblem> warnings() { return list(json.get("warnings"), DocumentProblem::from); }
    }

    public record WebhookDeleted(Json json) {
        public static WebhookDeleted from(Json json) { return read(json, WebhookDeleted::new); }
        public Boolean ok() { return truth(json.get("ok")); }
        public String name() { return json.get("name").text(); }
    }

    public static final class WebhookRequest extends Request<WebhookRequest> {
        public WebhookRequest url(String value) { return put("url", value); }
        public WebhookRequest enabled(Boolean value) { return put("enabled", value); }
        public WebhookRequest events(List<String> value) { return put("events", value); }
        public WebhookRequest headers(Json value) { return put("headers", value); }
    }

    public record Webhooks(Json json) {
        public static Webhooks from(Json json) { return read(json, Webhooks::new); }
        public List<Webhook> items() { return list(json.get("items"), Webhook::from); }
    }
}
