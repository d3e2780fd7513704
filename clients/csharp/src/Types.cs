using System;
using System.Collections.Generic;
using System.Linq;

namespace FeClient
{
    /// <summary>
    /// What is answered, as classes over its JSON, and what is sent, as classes that an object initializer fills. A
    /// member that is absent is null.
    ///
    /// `From` reads an answer or a part of one; null of null.
    ///
    /// Made from the service's description by `python -m clients.generate`: changes belong there.
    /// </summary>
    public static class Types
    {
        /// <summary>What is sent: a member that was not set is left out, and one set to null is sent as null.</summary>
        public abstract class Request
        {
            private readonly Dictionary<string, object> members = new Dictionary<string, object>();

            internal Request() { }

            private protected object Get(string name) => members.TryGetValue(name, out object value) ? value : null;

            private protected void Set(string name, object value) => members[name] = value;

            /// <summary>This as JSON.</summary>
            public Json ToJson() => Json.Of(members);
        }

        /// <summary>What is answered.</summary>
        public abstract class Answer
        {
            private protected readonly Json json;

            private protected Answer(Json json) { this.json = json; }

            /// <summary>This as it came.</summary>
            public override string ToString() => json.ToString();
        }

        private static T Read<T>(Json json, Func<Json, T> read) where T : class =>
            json == null || json.IsNull ? null : read(json);

        private static bool? Truth(Json json) => json.IsTrue || json.IsFalse ? json.IsTrue : (bool?)null;

        private static IReadOnlyList<T> List<T>(Json json, Func<Json, T> read) =>
            json.IsNull ? null : json.Items.Select(read).ToList();

        public sealed class AcceptedSubmission : Answer
        {
            private AcceptedSubmission(Json json) : base(json) { }
            public static AcceptedSubmission From(Json json) => Read(json, each => new AcceptedSubmission(each));
            public string TaxLogId => json["taxLogId"].Text;
            public string Status => json["status"].Text;
            public string Environment => json["environment"].Text;
            public bool? Billable => Truth(json["billable"]);
            public string Message => json["message"].Text;
            public string TipoEcf => json["tipoEcf"].Text;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public decimal? TotalITBIS => json["totalITBIS"].Amount;
            public string RncComprador => json["rncComprador"].Text;
            public string RazonSocialComprador => json["razonSocialComprador"].Text;
            public string FechaEmision => json["fechaEmision"].Text;
            public bool? ReadyToPrint => Truth(json["readyToPrint"]);
            public string ENCF => json["eNCF"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class Acecf : Request
        {
            public AcecfDetalleAprobacionComercial DetalleAprobacionComercial { get => (AcecfDetalleAprobacionComercial)Get("DetalleAprobacionComercial"); set => Set("DetalleAprobacionComercial", value); }
        }

        public sealed class AcecfDetalleAprobacionComercial : Request
        {
            public string Version { get => (string)Get("Version"); set => Set("Version", value); }
            public string RNCEmisor { get => (string)Get("RNCEmisor"); set => Set("RNCEmisor", value); }
            public string ENCF { get => (string)Get("eNCF"); set => Set("eNCF", value); }
            public string FechaEmision { get => (string)Get("FechaEmision"); set => Set("FechaEmision", value); }
            public decimal? MontoTotal { get => (decimal?)Get("MontoTotal"); set => Set("MontoTotal", value); }
            public string RNCComprador { get => (string)Get("RNCComprador"); set => Set("RNCComprador", value); }
            public string Estado { get => (string)Get("Estado"); set => Set("Estado", value); }
            public string DetalleMotivoRechazo { get => (string)Get("DetalleMotivoRechazo"); set => Set("DetalleMotivoRechazo", value); }
            public string FechaHoraAprobacionComercial { get => (string)Get("FechaHoraAprobacionComercial"); set => Set("FechaHoraAprobacionComercial", value); }
        }

        public sealed class AcecfPayload : Request
        {
            public Acecf ACECF { get => (Acecf)Get("ACECF"); set => Set("ACECF", value); }
        }

        public sealed class Anecf : Request
        {
            public AnecfEncabezado Encabezado { get => (AnecfEncabezado)Get("Encabezado"); set => Set("Encabezado", value); }
            public AnecfDetalleAnulacion DetalleAnulacion { get => (AnecfDetalleAnulacion)Get("DetalleAnulacion"); set => Set("DetalleAnulacion", value); }
        }

        public sealed class AnecfAnulacion : Request
        {
            public long? NoLinea { get => (long?)Get("NoLinea"); set => Set("NoLinea", value); }
            public string TipoeCF { get => (string)Get("TipoeCF"); set => Set("TipoeCF", value); }
            public AnecfTablaRangoSecuenciasAnuladaseNCF TablaRangoSecuenciasAnuladaseNCF { get => (AnecfTablaRangoSecuenciasAnuladaseNCF)Get("TablaRangoSecuenciasAnuladaseNCF"); set => Set("TablaRangoSecuenciasAnuladaseNCF", value); }
            public long? CantidadeNCFAnulados { get => (long?)Get("CantidadeNCFAnulados"); set => Set("CantidadeNCFAnulados", value); }
        }

        public sealed class AnecfDetalleAnulacion : Request
        {
            public IReadOnlyList<AnecfAnulacion> Anulacion { get => (IReadOnlyList<AnecfAnulacion>)Get("Anulacion"); set => Set("Anulacion", value); }
        }

        public sealed class AnecfEncabezado : Request
        {
            public string Version { get => (string)Get("Version"); set => Set("Version", value); }
            public string RncEmisor { get => (string)Get("RncEmisor"); set => Set("RncEmisor", value); }
            public long? CantidadeNCFAnulados { get => (long?)Get("CantidadeNCFAnulados"); set => Set("CantidadeNCFAnulados", value); }
            public string FechaHoraAnulacioneNCF { get => (string)Get("FechaHoraAnulacioneNCF"); set => Set("FechaHoraAnulacioneNCF", value); }
        }

        public sealed class AnecfPayload : Request
        {
            public Anecf ANECF { get => (Anecf)Get("ANECF"); set => Set("ANECF", value); }
        }

        public sealed class AnecfSecuencias : Request
        {
            public string SecuenciaeNCFDesde { get => (string)Get("SecuenciaeNCFDesde"); set => Set("SecuenciaeNCFDesde", value); }
            public string SecuenciaeNCFHasta { get => (string)Get("SecuenciaeNCFHasta"); set => Set("SecuenciaeNCFHasta", value); }
        }

        public sealed class AnecfTablaRangoSecuenciasAnuladaseNCF : Request
        {
            public IReadOnlyList<AnecfSecuencias> Secuencias { get => (IReadOnlyList<AnecfSecuencias>)Get("Secuencias"); set => Set("Secuencias", value); }
        }

        public sealed class ApprovalAtAuthority : Answer
        {
            private ApprovalAtAuthority(Json json) : base(json) { }
            public static ApprovalAtAuthority From(Json json) => Read(json, each => new ApprovalAtAuthority(each));
            public string Status => json["status"].Text;
            public string Message => json["message"].Text;
            public string At => json["at"].Text;
        }

        public sealed class ApprovalTaken : Answer
        {
            private ApprovalTaken(Json json) : base(json) { }
            public static ApprovalTaken From(Json json) => Read(json, each => new ApprovalTaken(each));
            public string Id => json["id"].Text;
            public string Environment => json["environment"].Text;
            public string Decision => json["decision"].Text;
            public string ApprovalStatus => json["approvalStatus"].Text;
            public string TaxLogId => json["taxLogId"].Text;
            public string Status => json["status"].Text;
            public bool? Deduped => Truth(json["deduped"]);
            public string Message => json["message"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class ApproveReceived : Request
        {
            public string ClientRequestId { get => (string)Get("clientRequestId"); set => Set("clientRequestId", value); }
            public string AsUser { get => (string)Get("asUser"); set => Set("asUser", value); }
            public string AsUserId { get => (string)Get("asUserId"); set => Set("asUserId", value); }
        }

        public sealed class ArchiveList : Answer
        {
            private ArchiveList(Json json) : base(json) { }
            public static ArchiveList From(Json json) => Read(json, each => new ArchiveList(each));
            public long? Limit => (long?)json["limit"].Amount;
            public IReadOnlyList<ArchivePackage> Items => List(json["items"], ArchivePackage.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class ArchivePackage : Answer
        {
            private ArchivePackage(Json json) : base(json) { }
            public static ArchivePackage From(Json json) => Read(json, each => new ArchivePackage(each));
            public long? Number => (long?)json["number"].Amount;
            public string Day => json["day"].Text;
            public long? Receipts => (long?)json["receipts"].Amount;
            public long? Additions => (long?)json["additions"].Amount;
            public long? Bytes => (long?)json["bytes"].Amount;
            public string Sha256 => json["sha256"].Text;
            public string ManifestSha256 => json["manifestSha256"].Text;
            public string PreviousManifestSha256 => json["previousManifestSha256"].Text;
            public string StoredAt => json["storedAt"].Text;
            public string StampedAt => json["stampedAt"].Text;
        }

        public sealed class AskedRange : Request
        {
            public string First { get => (string)Get("first"); set => Set("first", value); }
            public string Last { get => (string)Get("last"); set => Set("last", value); }
        }

        public sealed class Attempt : Answer
        {
            private Attempt(Json json) : base(json) { }
            public static Attempt From(Json json) => Read(json, each => new Attempt(each));
            public string At => json["at"].Text;
            public long? DurationMs => (long?)json["durationMs"].Amount;
            public long? Status => (long?)json["status"].Amount;
            public string Error => json["error"].Text;
            public bool? Redirected => Truth(json["redirected"]);
            public string Answer => json["answer"].Text;
        }

        public sealed class AuthorityEvent : Answer
        {
            private AuthorityEvent(Json json) : base(json) { }
            public static AuthorityEvent From(Json json) => Read(json, each => new AuthorityEvent(each));
            public string Event => json["event"].Text;
            public string SentAt => json["sentAt"].Text;
            public AuthorityOutage Authority => AuthorityOutage.From(json["authority"]);
        }

        public sealed class AuthorityHealth : Answer
        {
            private AuthorityHealth(Json json) : base(json) { }
            public static AuthorityHealth From(Json json) => Read(json, each => new AuthorityHealth(each));
            public string MeasuredAt => json["measuredAt"].Text;
            public IReadOnlyList<EnvironmentHealth> Environments => List(json["environments"], EnvironmentHealth.From);
        }

        public sealed class AuthorityOutage : Answer
        {
            private AuthorityOutage(Json json) : base(json) { }
            public static AuthorityOutage From(Json json) => Read(json, each => new AuthorityOutage(each));
            public string Environment => json["environment"].Text;
            public string Host => json["host"].Text;
            public string Since => json["since"].Text;
            public string Until => json["until"].Text;
        }

        public sealed class Batch : Answer
        {
            private Batch(Json json) : base(json) { }
            public static Batch From(Json json) => Read(json, each => new Batch(each));
            public IReadOnlyList<BatchItem> Items => List(json["items"], BatchItem.From);
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class BatchItem : Answer
        {
            private BatchItem(Json json) : base(json) { }
            public static BatchItem From(Json json) => Read(json, each => new BatchItem(each));
            public long? StatusCode => (long?)json["statusCode"].Amount;
            public string Message => json["message"].Text;
            public string TaxLogId => json["taxLogId"].Text;
            public string Status => json["status"].Text;
            public string Environment => json["environment"].Text;
            public bool? Billable => Truth(json["billable"]);
            public bool? Deduped => Truth(json["deduped"]);
            public bool? BodyMatched => Truth(json["bodyMatched"]);
            public string TipoEcf => json["tipoEcf"].Text;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public decimal? TotalITBIS => json["totalITBIS"].Amount;
            public string RncComprador => json["rncComprador"].Text;
            public string RazonSocialComprador => json["razonSocialComprador"].Text;
            public string FechaEmision => json["fechaEmision"].Text;
            public bool? ReadyToPrint => Truth(json["readyToPrint"]);
            public string ENCF => json["eNCF"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
            public IReadOnlyList<DocumentProblem> Problems => List(json["problems"], DocumentProblem.From);
        }

        public sealed class BatchRequest : Request
        {
            public IReadOnlyList<object> Items { get => (IReadOnlyList<object>)Get("items"); set => Set("items", value); }
            public bool? Strict { get => (bool?)Get("strict"); set => Set("strict", value); }
        }

        public sealed class BillingPeriod : Answer
        {
            private BillingPeriod(Json json) : base(json) { }
            public static BillingPeriod From(Json json) => Read(json, each => new BillingPeriod(each));
            public string Period => json["period"].Text;
            public string PeriodStart => json["periodStart"].Text;
            public string PeriodEnd => json["periodEnd"].Text;
            public bool? Enabled => Truth(json["enabled"]);
            public string SubscriptionId => json["subscriptionId"].Text;
            public decimal? UnitPrice => json["unitPrice"].Amount;
            public string Currency => json["currency"].Text;
            public string PricingTier => json["pricingTier"].Text;
            public long? EmissionsAccepted => (long?)json["emissionsAccepted"].Amount;
            public decimal? Subtotal => json["subtotal"].Amount;
            public string LastUpdated => json["lastUpdated"].Text;
        }

        public sealed class BuyerApproval : Answer
        {
            private BuyerApproval(Json json) : base(json) { }
            public static BuyerApproval From(Json json) => Read(json, each => new BuyerApproval(each));
            public string TaxLogId => json["taxLogId"].Text;
            public string Environment => json["environment"].Text;
            public string ENCF => json["eNCF"].Text;
            public string RncComprador => json["rncComprador"].Text;
            public string Reason => json["reason"].Text;
            public string ReceivedAt => json["receivedAt"].Text;
        }

        public sealed class BuyerEvent : Answer
        {
            private BuyerEvent(Json json) : base(json) { }
            public static BuyerEvent From(Json json) => Read(json, each => new BuyerEvent(each));
            public string Event => json["event"].Text;
            public string SentAt => json["sentAt"].Text;
            public BuyerApproval Approval => BuyerApproval.From(json["approval"]);
        }

        public sealed class CertificateEvent : Answer
        {
            private CertificateEvent(Json json) : base(json) { }
            public static CertificateEvent From(Json json) => Read(json, each => new CertificateEvent(each));
            public string Event => json["event"].Text;
            public string SentAt => json["sentAt"].Text;
            public CertificateState Certificate => CertificateState.From(json["certificate"]);
        }

        public sealed class CertificateState : Answer
        {
            private CertificateState(Json json) : base(json) { }
            public static CertificateState From(Json json) => Read(json, each => new CertificateState(each));
            public string Id => json["id"].Text;
            public string User => json["user"].Text;
            public string ExpiresAt => json["expiresAt"].Text;
        }

        public sealed class ChangedSequence : Request
        {
            public long? MinSequence { get => (long?)Get("minSequence"); set => Set("minSequence", value); }
            public long? MaxSequence { get => (long?)Get("maxSequence"); set => Set("maxSequence", value); }
            public string ExpireAt { get => (string)Get("expireAt"); set => Set("expireAt", value); }
            public bool? IsActive { get => (bool?)Get("isActive"); set => Set("isActive", value); }
            public IReadOnlyList<string> Users { get => (IReadOnlyList<string>)Get("users"); set => Set("users", value); }
            public string AgentId { get => (string)Get("agentId"); set => Set("agentId", value); }
            public GivenAhead NextRange { get => (GivenAhead)Get("nextRange"); set => Set("nextRange", value); }
            public long? CurrentSequence { get => (long?)Get("currentSequence"); set => Set("currentSequence", value); }
        }

        public sealed class CustomerItem : Answer
        {
            private CustomerItem(Json json) : base(json) { }
            public static CustomerItem From(Json json) => Read(json, each => new CustomerItem(each));
            public string Id => json["id"].Text;
            public string Name => json["name"].Text;
            public string Rnc => json["rnc"].Text;
            public string Email => json["email"].Text;
            public string Phone => json["phone"].Text;
            public string Address => json["address"].Text;
            public string Municipality => json["municipality"].Text;
            public string Province => json["province"].Text;
            public string Type => json["type"].Text;
            public string Source => json["source"].Text;
            public long? Version => (long?)json["version"].Amount;
            public string ChangedAt => json["changedAt"].Text;
            public string UsedAt => json["usedAt"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class CustomerList : Answer
        {
            private CustomerList(Json json) : base(json) { }
            public static CustomerList From(Json json) => Read(json, each => new CustomerList(each));
            public long? Limit => (long?)json["limit"].Amount;
            public IReadOnlyList<CustomerItem> Items => List(json["items"], CustomerItem.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class CustomerRequest : Request
        {
            public string Name { get => (string)Get("name"); set => Set("name", value); }
            public string Rnc { get => (string)Get("rnc"); set => Set("rnc", value); }
            public string Email { get => (string)Get("email"); set => Set("email", value); }
            public string Phone { get => (string)Get("phone"); set => Set("phone", value); }
            public string Address { get => (string)Get("address"); set => Set("address", value); }
            public string Municipality { get => (string)Get("municipality"); set => Set("municipality", value); }
            public string Province { get => (string)Get("province"); set => Set("province", value); }
            public string Type { get => (string)Get("type"); set => Set("type", value); }
            public long? Version { get => (long?)Get("version"); set => Set("version", value); }
        }

        public sealed class DayStatus : Answer
        {
            private DayStatus(Json json) : base(json) { }
            public static DayStatus From(Json json) => Read(json, each => new DayStatus(each));
            public string Day => json["day"].Text;
            public long? MeasuredMinutes => (long?)json["measuredMinutes"].Amount;
            public long? DegradedMinutes => (long?)json["degradedMinutes"].Amount;
            public long? DownMinutes => (long?)json["downMinutes"].Amount;
        }

        public sealed class DecideReceived : Request
        {
            public string Decision { get => (string)Get("decision"); set => Set("decision", value); }
            public IReadOnlyList<string> Ids { get => (IReadOnlyList<string>)Get("ids"); set => Set("ids", value); }
            public string Reason { get => (string)Get("reason"); set => Set("reason", value); }
            public string AsUser { get => (string)Get("asUser"); set => Set("asUser", value); }
            public string AsUserId { get => (string)Get("asUserId"); set => Set("asUserId", value); }
        }

        public sealed class DecidedItem : Answer
        {
            private DecidedItem(Json json) : base(json) { }
            public static DecidedItem From(Json json) => Read(json, each => new DecidedItem(each));
            public string Id => json["id"].Text;
            public long? StatusCode => (long?)json["statusCode"].Amount;
            public string Message => json["message"].Text;
            public string TaxLogId => json["taxLogId"].Text;
            public string Status => json["status"].Text;
        }

        public sealed class DecidedMany : Answer
        {
            private DecidedMany(Json json) : base(json) { }
            public static DecidedMany From(Json json) => Read(json, each => new DecidedMany(each));
            public string Decision => json["decision"].Text;
            public IReadOnlyList<DecidedItem> Items => List(json["items"], DecidedItem.From);
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class Deduped : Answer
        {
            private Deduped(Json json) : base(json) { }
            public static Deduped From(Json json) => Read(json, each => new Deduped(each));
            public string TaxLogId => json["taxLogId"].Text;
            public string Status => json["status"].Text;
            public string Environment => json["environment"].Text;
            public bool? DedupedValue => Truth(json["deduped"]);
            public bool? BodyMatched => Truth(json["bodyMatched"]);
            public string Message => json["message"].Text;
            public string TipoEcf => json["tipoEcf"].Text;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public decimal? TotalITBIS => json["totalITBIS"].Amount;
            public string RncComprador => json["rncComprador"].Text;
            public string RazonSocialComprador => json["razonSocialComprador"].Text;
            public string FechaEmision => json["fechaEmision"].Text;
            public string ENCF => json["eNCF"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class Deleted : Answer
        {
            private Deleted(Json json) : base(json) { }
            public static Deleted From(Json json) => Read(json, each => new Deleted(each));
            public bool? Ok => Truth(json["ok"]);
            public string Prefix => json["prefix"].Text;
        }

        public sealed class Delivery : Answer
        {
            private Delivery(Json json) : base(json) { }
            public static Delivery From(Json json) => Read(json, each => new Delivery(each));
            public string Id => json["id"].Text;
            public string WebhookId => json["webhookId"].Text;
            public string Endpoint => json["endpoint"].Text;
            public string Event => json["event"].Text;
            public string About => json["about"].Text;
            public string Environment => json["environment"].Text;
            public string State => json["state"].Text;
            public long? Attempts => (long?)json["attempts"].Amount;
            public string CreatedAt => json["createdAt"].Text;
            public string NextAttemptAt => json["nextAttemptAt"].Text;
            public string FinishedAt => json["finishedAt"].Text;
            public string LastError => json["lastError"].Text;
            public bool? Redirected => Truth(json["redirected"]);
        }

        public sealed class DeliveryAgain : Answer
        {
            private DeliveryAgain(Json json) : base(json) { }
            public static DeliveryAgain From(Json json) => Read(json, each => new DeliveryAgain(each));
            public string Id => json["id"].Text;
            public string State => json["state"].Text;
            public string Message => json["message"].Text;
        }

        public sealed class DeliveryDetail : Answer
        {
            private DeliveryDetail(Json json) : base(json) { }
            public static DeliveryDetail From(Json json) => Read(json, each => new DeliveryDetail(each));
            public string Id => json["id"].Text;
            public string WebhookId => json["webhookId"].Text;
            public string Endpoint => json["endpoint"].Text;
            public string Event => json["event"].Text;
            public string About => json["about"].Text;
            public string Environment => json["environment"].Text;
            public string State => json["state"].Text;
            public long? Attempts => (long?)json["attempts"].Amount;
            public string CreatedAt => json["createdAt"].Text;
            public string NextAttemptAt => json["nextAttemptAt"].Text;
            public string FinishedAt => json["finishedAt"].Text;
            public string LastError => json["lastError"].Text;
            public bool? Redirected => Truth(json["redirected"]);
            public IReadOnlyList<Attempt> Tries => List(json["tries"], Attempt.From);
        }

        public sealed class DeliveryPage : Answer
        {
            private DeliveryPage(Json json) : base(json) { }
            public static DeliveryPage From(Json json) => Read(json, each => new DeliveryPage(each));
            public long? Page => (long?)json["page"].Amount;
            public long? Limit => (long?)json["limit"].Amount;
            public long? Total => (long?)json["total"].Amount;
            public IReadOnlyList<Delivery> Items => List(json["items"], Delivery.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class DeliveryStretch : Answer
        {
            private DeliveryStretch(Json json) : base(json) { }
            public static DeliveryStretch From(Json json) => Read(json, each => new DeliveryStretch(each));
            public long? Limit => (long?)json["limit"].Amount;
            public IReadOnlyList<Delivery> Items => List(json["items"], Delivery.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class DocumentProblem : Answer
        {
            private DocumentProblem(Json json) : base(json) { }
            public static DocumentProblem From(Json json) => Read(json, each => new DocumentProblem(each));
            public string Code => json["code"].Text;
            public string Path => json["path"].Text;
            public string Message => json["message"].Text;
            public string MessageEs => json["messageEs"].Text;
            public string Severity => json["severity"].Text;
            public long? Line => (long?)json["line"].Amount;
            public long? Column => (long?)json["column"].Amount;
            public string Found => json["found"].Text;
            public string Expected => json["expected"].Text;
            public string ExpectedEs => json["expectedEs"].Text;
            public string Fix => json["fix"].Text;
            public string FixEs => json["fixEs"].Text;
            public IReadOnlyList<string> Allowed => List(json["allowed"], each => each.Text);
            public ProblemRepair Repair => ProblemRepair.From(json["repair"]);
        }

        public sealed class Ecf : Request
        {
            public EcfEncabezado Encabezado { get => (EcfEncabezado)Get("Encabezado"); set => Set("Encabezado", value); }
            public EcfDetallesItems DetallesItems { get => (EcfDetallesItems)Get("DetallesItems"); set => Set("DetallesItems", value); }
            public EcfSubtotales Subtotales { get => (EcfSubtotales)Get("Subtotales"); set => Set("Subtotales", value); }
            public EcfDescuentosORecargos DescuentosORecargos { get => (EcfDescuentosORecargos)Get("DescuentosORecargos"); set => Set("DescuentosORecargos", value); }
            public EcfPaginacion Paginacion { get => (EcfPaginacion)Get("Paginacion"); set => Set("Paginacion", value); }
            public EcfInformacionReferencia InformacionReferencia { get => (EcfInformacionReferencia)Get("InformacionReferencia"); set => Set("InformacionReferencia", value); }
            public string FechaHoraFirma { get => (string)Get("FechaHoraFirma"); set => Set("FechaHoraFirma", value); }
        }

        public sealed class EcfCodigosItem : Request
        {
            public string TipoCodigo { get => (string)Get("TipoCodigo"); set => Set("TipoCodigo", value); }
            public string CodigoItem { get => (string)Get("CodigoItem"); set => Set("CodigoItem", value); }
        }

        public sealed class EcfComprador : Request
        {
            public string RNCComprador { get => (string)Get("RNCComprador"); set => Set("RNCComprador", value); }
            public string RazonSocialComprador { get => (string)Get("RazonSocialComprador"); set => Set("RazonSocialComprador", value); }
            public string ContactoComprador { get => (string)Get("ContactoComprador"); set => Set("ContactoComprador", value); }
            public string CorreoComprador { get => (string)Get("CorreoComprador"); set => Set("CorreoComprador", value); }
            public string DireccionComprador { get => (string)Get("DireccionComprador"); set => Set("DireccionComprador", value); }
            public string MunicipioComprador { get => (string)Get("MunicipioComprador"); set => Set("MunicipioComprador", value); }
            public string ProvinciaComprador { get => (string)Get("ProvinciaComprador"); set => Set("ProvinciaComprador", value); }
            public string FechaEntrega { get => (string)Get("FechaEntrega"); set => Set("FechaEntrega", value); }
            public string ContactoEntrega { get => (string)Get("ContactoEntrega"); set => Set("ContactoEntrega", value); }
            public string DireccionEntrega { get => (string)Get("DireccionEntrega"); set => Set("DireccionEntrega", value); }
            public string TelefonoAdicional { get => (string)Get("TelefonoAdicional"); set => Set("TelefonoAdicional", value); }
            public string FechaOrdenCompra { get => (string)Get("FechaOrdenCompra"); set => Set("FechaOrdenCompra", value); }
            public string NumeroOrdenCompra { get => (string)Get("NumeroOrdenCompra"); set => Set("NumeroOrdenCompra", value); }
            public string CodigoInternoComprador { get => (string)Get("CodigoInternoComprador"); set => Set("CodigoInternoComprador", value); }
            public string ResponsablePago { get => (string)Get("ResponsablePago"); set => Set("ResponsablePago", value); }
            public string InformacionAdicionalComprador { get => (string)Get("InformacionAdicionalComprador"); set => Set("InformacionAdicionalComprador", value); }
            public string IdentificadorExtranjero { get => (string)Get("IdentificadorExtranjero"); set => Set("IdentificadorExtranjero", value); }
            public string PaisComprador { get => (string)Get("PaisComprador"); set => Set("PaisComprador", value); }
        }

        public sealed class EcfDescuentoORecargo : Request
        {
            public long? NumeroLinea { get => (long?)Get("NumeroLinea"); set => Set("NumeroLinea", value); }
            public string TipoAjuste { get => (string)Get("TipoAjuste"); set => Set("TipoAjuste", value); }
            public string IndicadorNorma1007 { get => (string)Get("IndicadorNorma1007"); set => Set("IndicadorNorma1007", value); }
            public string DescripcionDescuentooRecargo { get => (string)Get("DescripcionDescuentooRecargo"); set => Set("DescripcionDescuentooRecargo", value); }
            public string TipoValor { get => (string)Get("TipoValor"); set => Set("TipoValor", value); }
            public decimal? ValorDescuentooRecargo { get => (decimal?)Get("ValorDescuentooRecargo"); set => Set("ValorDescuentooRecargo", value); }
            public decimal? MontoDescuentooRecargo { get => (decimal?)Get("MontoDescuentooRecargo"); set => Set("MontoDescuentooRecargo", value); }
            public decimal? MontoDescuentooRecargoOtraMoneda { get => (decimal?)Get("MontoDescuentooRecargoOtraMoneda"); set => Set("MontoDescuentooRecargoOtraMoneda", value); }
            public string IndicadorFacturacionDescuentooRecargo { get => (string)Get("IndicadorFacturacionDescuentooRecargo"); set => Set("IndicadorFacturacionDescuentooRecargo", value); }
        }

        public sealed class EcfDescuentosORecargos : Request
        {
            public IReadOnlyList<EcfDescuentoORecargo> DescuentoORecargo { get => (IReadOnlyList<EcfDescuentoORecargo>)Get("DescuentoORecargo"); set => Set("DescuentoORecargo", value); }
        }

        public sealed class EcfDetallesItems : Request
        {
            public IReadOnlyList<EcfItem> Item { get => (IReadOnlyList<EcfItem>)Get("Item"); set => Set("Item", value); }
        }

        public sealed class EcfEmisor : Request
        {
            public string RNCEmisor { get => (string)Get("RNCEmisor"); set => Set("RNCEmisor", value); }
            public string RazonSocialEmisor { get => (string)Get("RazonSocialEmisor"); set => Set("RazonSocialEmisor", value); }
            public string NombreComercial { get => (string)Get("NombreComercial"); set => Set("NombreComercial", value); }
            public string Sucursal { get => (string)Get("Sucursal"); set => Set("Sucursal", value); }
            public string DireccionEmisor { get => (string)Get("DireccionEmisor"); set => Set("DireccionEmisor", value); }
            public string Municipio { get => (string)Get("Municipio"); set => Set("Municipio", value); }
            public string Provincia { get => (string)Get("Provincia"); set => Set("Provincia", value); }
            public EcfTablaTelefonoEmisor TablaTelefonoEmisor { get => (EcfTablaTelefonoEmisor)Get("TablaTelefonoEmisor"); set => Set("TablaTelefonoEmisor", value); }
            public string CorreoEmisor { get => (string)Get("CorreoEmisor"); set => Set("CorreoEmisor", value); }
            public string WebSite { get => (string)Get("WebSite"); set => Set("WebSite", value); }
            public string ActividadEconomica { get => (string)Get("ActividadEconomica"); set => Set("ActividadEconomica", value); }
            public string CodigoVendedor { get => (string)Get("CodigoVendedor"); set => Set("CodigoVendedor", value); }
            public string NumeroFacturaInterna { get => (string)Get("NumeroFacturaInterna"); set => Set("NumeroFacturaInterna", value); }
            public long? NumeroPedidoInterno { get => (long?)Get("NumeroPedidoInterno"); set => Set("NumeroPedidoInterno", value); }
            public string ZonaVenta { get => (string)Get("ZonaVenta"); set => Set("ZonaVenta", value); }
            public string RutaVenta { get => (string)Get("RutaVenta"); set => Set("RutaVenta", value); }
            public string InformacionAdicionalEmisor { get => (string)Get("InformacionAdicionalEmisor"); set => Set("InformacionAdicionalEmisor", value); }
            public string FechaEmision { get => (string)Get("FechaEmision"); set => Set("FechaEmision", value); }
        }

        public sealed class EcfEncabezado : Request
        {
            public string Version { get => (string)Get("Version"); set => Set("Version", value); }
            public EcfIdDoc IdDoc { get => (EcfIdDoc)Get("IdDoc"); set => Set("IdDoc", value); }
            public EcfEmisor Emisor { get => (EcfEmisor)Get("Emisor"); set => Set("Emisor", value); }
            public EcfComprador Comprador { get => (EcfComprador)Get("Comprador"); set => Set("Comprador", value); }
            public EcfInformacionesAdicionales InformacionesAdicionales { get => (EcfInformacionesAdicionales)Get("InformacionesAdicionales"); set => Set("InformacionesAdicionales", value); }
            public EcfTransporte Transporte { get => (EcfTransporte)Get("Transporte"); set => Set("Transporte", value); }
            public EcfTotales Totales { get => (EcfTotales)Get("Totales"); set => Set("Totales", value); }
            public EcfOtraMoneda OtraMoneda { get => (EcfOtraMoneda)Get("OtraMoneda"); set => Set("OtraMoneda", value); }
        }

        public sealed class EcfFormaDePago : Request
        {
            public string FormaPago { get => (string)Get("FormaPago"); set => Set("FormaPago", value); }
            public decimal? MontoPago { get => (decimal?)Get("MontoPago"); set => Set("MontoPago", value); }
        }

        public sealed class EcfIdDoc : Request
        {
            public string TipoeCF { get => (string)Get("TipoeCF"); set => Set("TipoeCF", value); }
            public string ENCF { get => (string)Get("eNCF"); set => Set("eNCF", value); }
            public string FechaVencimientoSecuencia { get => (string)Get("FechaVencimientoSecuencia"); set => Set("FechaVencimientoSecuencia", value); }
            public string IndicadorEnvioDiferido { get => (string)Get("IndicadorEnvioDiferido"); set => Set("IndicadorEnvioDiferido", value); }
            public string IndicadorMontoGravado { get => (string)Get("IndicadorMontoGravado"); set => Set("IndicadorMontoGravado", value); }
            public string IndicadorServicioTodoIncluido { get => (string)Get("IndicadorServicioTodoIncluido"); set => Set("IndicadorServicioTodoIncluido", value); }
            public string TipoIngresos { get => (string)Get("TipoIngresos"); set => Set("TipoIngresos", value); }
            public string TipoPago { get => (string)Get("TipoPago"); set => Set("TipoPago", value); }
            public string FechaLimitePago { get => (string)Get("FechaLimitePago"); set => Set("FechaLimitePago", value); }
            public string TerminoPago { get => (string)Get("TerminoPago"); set => Set("TerminoPago", value); }
            public EcfTablaFormasPago TablaFormasPago { get => (EcfTablaFormasPago)Get("TablaFormasPago"); set => Set("TablaFormasPago", value); }
            public string TipoCuentaPago { get => (string)Get("TipoCuentaPago"); set => Set("TipoCuentaPago", value); }
            public string NumeroCuentaPago { get => (string)Get("NumeroCuentaPago"); set => Set("NumeroCuentaPago", value); }
            public string BancoPago { get => (string)Get("BancoPago"); set => Set("BancoPago", value); }
            public string FechaDesde { get => (string)Get("FechaDesde"); set => Set("FechaDesde", value); }
            public string FechaHasta { get => (string)Get("FechaHasta"); set => Set("FechaHasta", value); }
            public long? TotalPaginas { get => (long?)Get("TotalPaginas"); set => Set("TotalPaginas", value); }
            public string IndicadorNotaCredito { get => (string)Get("IndicadorNotaCredito"); set => Set("IndicadorNotaCredito", value); }
        }

        public sealed class EcfImpuestoAdicionalOtraMoneda : Request
        {
            public string TipoImpuestoOtraMoneda { get => (string)Get("TipoImpuestoOtraMoneda"); set => Set("TipoImpuestoOtraMoneda", value); }
            public decimal? TasaImpuestoAdicionalOtraMoneda { get => (decimal?)Get("TasaImpuestoAdicionalOtraMoneda"); set => Set("TasaImpuestoAdicionalOtraMoneda", value); }
            public decimal? MontoImpuestoSelectivoConsumoEspecificoOtraMoneda { get => (decimal?)Get("MontoImpuestoSelectivoConsumoEspecificoOtraMoneda"); set => Set("MontoImpuestoSelectivoConsumoEspecificoOtraMoneda", value); }
            public decimal? MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda { get => (decimal?)Get("MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda"); set => Set("MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda", value); }
            public decimal? OtrosImpuestosAdicionalesOtraMoneda { get => (decimal?)Get("OtrosImpuestosAdicionalesOtraMoneda"); set => Set("OtrosImpuestosAdicionalesOtraMoneda", value); }
        }

        public sealed class EcfImpuestosAdicionales : Request
        {
            public IReadOnlyList<EcfTotalesImpuestoAdicional> ImpuestoAdicional { get => (IReadOnlyList<EcfTotalesImpuestoAdicional>)Get("ImpuestoAdicional"); set => Set("ImpuestoAdicional", value); }
        }

        public sealed class EcfImpuestosAdicionalesOtraMoneda : Request
        {
            public IReadOnlyList<EcfImpuestoAdicionalOtraMoneda> ImpuestoAdicionalOtraMoneda { get => (IReadOnlyList<EcfImpuestoAdicionalOtraMoneda>)Get("ImpuestoAdicionalOtraMoneda"); set => Set("ImpuestoAdicionalOtraMoneda", value); }
        }

        public sealed class EcfInformacionReferencia : Request
        {
            public string NCFModificado { get => (string)Get("NCFModificado"); set => Set("NCFModificado", value); }
            public string RNCOtroContribuyente { get => (string)Get("RNCOtroContribuyente"); set => Set("RNCOtroContribuyente", value); }
            public string FechaNCFModificado { get => (string)Get("FechaNCFModificado"); set => Set("FechaNCFModificado", value); }
            public string CodigoModificacion { get => (string)Get("CodigoModificacion"); set => Set("CodigoModificacion", value); }
            public string RazonModificacion { get => (string)Get("RazonModificacion"); set => Set("RazonModificacion", value); }
        }

        public sealed class EcfInformacionesAdicionales : Request
        {
            public string FechaEmbarque { get => (string)Get("FechaEmbarque"); set => Set("FechaEmbarque", value); }
            public string NumeroEmbarque { get => (string)Get("NumeroEmbarque"); set => Set("NumeroEmbarque", value); }
            public string NumeroContenedor { get => (string)Get("NumeroContenedor"); set => Set("NumeroContenedor", value); }
            public string NumeroReferencia { get => (string)Get("NumeroReferencia"); set => Set("NumeroReferencia", value); }
            public decimal? PesoBruto { get => (decimal?)Get("PesoBruto"); set => Set("PesoBruto", value); }
            public decimal? PesoNeto { get => (decimal?)Get("PesoNeto"); set => Set("PesoNeto", value); }
            public string UnidadPesoBruto { get => (string)Get("UnidadPesoBruto"); set => Set("UnidadPesoBruto", value); }
            public string UnidadPesoNeto { get => (string)Get("UnidadPesoNeto"); set => Set("UnidadPesoNeto", value); }
            public decimal? CantidadBulto { get => (decimal?)Get("CantidadBulto"); set => Set("CantidadBulto", value); }
            public string UnidadBulto { get => (string)Get("UnidadBulto"); set => Set("UnidadBulto", value); }
            public decimal? VolumenBulto { get => (decimal?)Get("VolumenBulto"); set => Set("VolumenBulto", value); }
            public string UnidadVolumen { get => (string)Get("UnidadVolumen"); set => Set("UnidadVolumen", value); }
            public string NombrePuertoEmbarque { get => (string)Get("NombrePuertoEmbarque"); set => Set("NombrePuertoEmbarque", value); }
            public string CondicionesEntrega { get => (string)Get("CondicionesEntrega"); set => Set("CondicionesEntrega", value); }
            public decimal? TotalFob { get => (decimal?)Get("TotalFob"); set => Set("TotalFob", value); }
            public decimal? Seguro { get => (decimal?)Get("Seguro"); set => Set("Seguro", value); }
            public decimal? Flete { get => (decimal?)Get("Flete"); set => Set("Flete", value); }
            public decimal? OtrosGastos { get => (decimal?)Get("OtrosGastos"); set => Set("OtrosGastos", value); }
            public decimal? TotalCif { get => (decimal?)Get("TotalCif"); set => Set("TotalCif", value); }
            public string RegimenAduanero { get => (string)Get("RegimenAduanero"); set => Set("RegimenAduanero", value); }
            public string NombrePuertoSalida { get => (string)Get("NombrePuertoSalida"); set => Set("NombrePuertoSalida", value); }
            public string NombrePuertoDesembarque { get => (string)Get("NombrePuertoDesembarque"); set => Set("NombrePuertoDesembarque", value); }
        }

        public sealed class EcfItem : Request
        {
            public long? NumeroLinea { get => (long?)Get("NumeroLinea"); set => Set("NumeroLinea", value); }
            public EcfTablaCodigosItem TablaCodigosItem { get => (EcfTablaCodigosItem)Get("TablaCodigosItem"); set => Set("TablaCodigosItem", value); }
            public string IndicadorFacturacion { get => (string)Get("IndicadorFacturacion"); set => Set("IndicadorFacturacion", value); }
            public EcfRetencion Retencion { get => (EcfRetencion)Get("Retencion"); set => Set("Retencion", value); }
            public string NombreItem { get => (string)Get("NombreItem"); set => Set("NombreItem", value); }
            public string IndicadorBienoServicio { get => (string)Get("IndicadorBienoServicio"); set => Set("IndicadorBienoServicio", value); }
            public string DescripcionItem { get => (string)Get("DescripcionItem"); set => Set("DescripcionItem", value); }
            public decimal? CantidadItem { get => (decimal?)Get("CantidadItem"); set => Set("CantidadItem", value); }
            public string UnidadMedida { get => (string)Get("UnidadMedida"); set => Set("UnidadMedida", value); }
            public decimal? CantidadReferencia { get => (decimal?)Get("CantidadReferencia"); set => Set("CantidadReferencia", value); }
            public string UnidadReferencia { get => (string)Get("UnidadReferencia"); set => Set("UnidadReferencia", value); }
            public EcfTablaSubcantidad TablaSubcantidad { get => (EcfTablaSubcantidad)Get("TablaSubcantidad"); set => Set("TablaSubcantidad", value); }
            public decimal? GradosAlcohol { get => (decimal?)Get("GradosAlcohol"); set => Set("GradosAlcohol", value); }
            public decimal? PrecioUnitarioReferencia { get => (decimal?)Get("PrecioUnitarioReferencia"); set => Set("PrecioUnitarioReferencia", value); }
            public string FechaElaboracion { get => (string)Get("FechaElaboracion"); set => Set("FechaElaboracion", value); }
            public string FechaVencimientoItem { get => (string)Get("FechaVencimientoItem"); set => Set("FechaVencimientoItem", value); }
            public decimal? PrecioUnitarioItem { get => (decimal?)Get("PrecioUnitarioItem"); set => Set("PrecioUnitarioItem", value); }
            public decimal? DescuentoMonto { get => (decimal?)Get("DescuentoMonto"); set => Set("DescuentoMonto", value); }
            public EcfTablaSubDescuento TablaSubDescuento { get => (EcfTablaSubDescuento)Get("TablaSubDescuento"); set => Set("TablaSubDescuento", value); }
            public decimal? RecargoMonto { get => (decimal?)Get("RecargoMonto"); set => Set("RecargoMonto", value); }
            public EcfTablaSubRecargo TablaSubRecargo { get => (EcfTablaSubRecargo)Get("TablaSubRecargo"); set => Set("TablaSubRecargo", value); }
            public EcfTablaImpuestoAdicional TablaImpuestoAdicional { get => (EcfTablaImpuestoAdicional)Get("TablaImpuestoAdicional"); set => Set("TablaImpuestoAdicional", value); }
            public EcfOtraMonedaDetalle OtraMonedaDetalle { get => (EcfOtraMonedaDetalle)Get("OtraMonedaDetalle"); set => Set("OtraMonedaDetalle", value); }
            public decimal? MontoItem { get => (decimal?)Get("MontoItem"); set => Set("MontoItem", value); }
            public EcfMineria Mineria { get => (EcfMineria)Get("Mineria"); set => Set("Mineria", value); }
        }

        public sealed class EcfItemImpuestoAdicional : Request
        {
            public string TipoImpuesto { get => (string)Get("TipoImpuesto"); set => Set("TipoImpuesto", value); }
        }

        public sealed class EcfMineria : Request
        {
            public decimal? PesoNetoKilogramo { get => (decimal?)Get("PesoNetoKilogramo"); set => Set("PesoNetoKilogramo", value); }
            public decimal? PesoNetoMineria { get => (decimal?)Get("PesoNetoMineria"); set => Set("PesoNetoMineria", value); }
            public string TipoAfiliacion { get => (string)Get("TipoAfiliacion"); set => Set("TipoAfiliacion", value); }
            public string Liquidacion { get => (string)Get("Liquidacion"); set => Set("Liquidacion", value); }
        }

        public sealed class EcfOtraMoneda : Request
        {
            public string TipoMoneda { get => (string)Get("TipoMoneda"); set => Set("TipoMoneda", value); }
            public decimal? TipoCambio { get => (decimal?)Get("TipoCambio"); set => Set("TipoCambio", value); }
            public decimal? MontoGravadoTotalOtraMoneda { get => (decimal?)Get("MontoGravadoTotalOtraMoneda"); set => Set("MontoGravadoTotalOtraMoneda", value); }
            public decimal? MontoGravado1OtraMoneda { get => (decimal?)Get("MontoGravado1OtraMoneda"); set => Set("MontoGravado1OtraMoneda", value); }
            public decimal? MontoGravado2OtraMoneda { get => (decimal?)Get("MontoGravado2OtraMoneda"); set => Set("MontoGravado2OtraMoneda", value); }
            public decimal? MontoGravado3OtraMoneda { get => (decimal?)Get("MontoGravado3OtraMoneda"); set => Set("MontoGravado3OtraMoneda", value); }
            public decimal? MontoExentoOtraMoneda { get => (decimal?)Get("MontoExentoOtraMoneda"); set => Set("MontoExentoOtraMoneda", value); }
            public decimal? TotalITBISOtraMoneda { get => (decimal?)Get("TotalITBISOtraMoneda"); set => Set("TotalITBISOtraMoneda", value); }
            public decimal? TotalITBIS1OtraMoneda { get => (decimal?)Get("TotalITBIS1OtraMoneda"); set => Set("TotalITBIS1OtraMoneda", value); }
            public decimal? TotalITBIS2OtraMoneda { get => (decimal?)Get("TotalITBIS2OtraMoneda"); set => Set("TotalITBIS2OtraMoneda", value); }
            public decimal? TotalITBIS3OtraMoneda { get => (decimal?)Get("TotalITBIS3OtraMoneda"); set => Set("TotalITBIS3OtraMoneda", value); }
            public decimal? MontoImpuestoAdicionalOtraMoneda { get => (decimal?)Get("MontoImpuestoAdicionalOtraMoneda"); set => Set("MontoImpuestoAdicionalOtraMoneda", value); }
            public EcfImpuestosAdicionalesOtraMoneda ImpuestosAdicionalesOtraMoneda { get => (EcfImpuestosAdicionalesOtraMoneda)Get("ImpuestosAdicionalesOtraMoneda"); set => Set("ImpuestosAdicionalesOtraMoneda", value); }
            public decimal? MontoTotalOtraMoneda { get => (decimal?)Get("MontoTotalOtraMoneda"); set => Set("MontoTotalOtraMoneda", value); }
        }

        public sealed class EcfOtraMonedaDetalle : Request
        {
            public decimal? PrecioOtraMoneda { get => (decimal?)Get("PrecioOtraMoneda"); set => Set("PrecioOtraMoneda", value); }
            public decimal? DescuentoOtraMoneda { get => (decimal?)Get("DescuentoOtraMoneda"); set => Set("DescuentoOtraMoneda", value); }
            public decimal? RecargoOtraMoneda { get => (decimal?)Get("RecargoOtraMoneda"); set => Set("RecargoOtraMoneda", value); }
            public decimal? MontoItemOtraMoneda { get => (decimal?)Get("MontoItemOtraMoneda"); set => Set("MontoItemOtraMoneda", value); }
        }

        public sealed class EcfPagina : Request
        {
            public long? PaginaNo { get => (long?)Get("PaginaNo"); set => Set("PaginaNo", value); }
            public long? NoLineaDesde { get => (long?)Get("NoLineaDesde"); set => Set("NoLineaDesde", value); }
            public long? NoLineaHasta { get => (long?)Get("NoLineaHasta"); set => Set("NoLineaHasta", value); }
            public decimal? SubtotalMontoGravadoPagina { get => (decimal?)Get("SubtotalMontoGravadoPagina"); set => Set("SubtotalMontoGravadoPagina", value); }
            public decimal? SubtotalMontoGravado1Pagina { get => (decimal?)Get("SubtotalMontoGravado1Pagina"); set => Set("SubtotalMontoGravado1Pagina", value); }
            public decimal? SubtotalMontoGravado2Pagina { get => (decimal?)Get("SubtotalMontoGravado2Pagina"); set => Set("SubtotalMontoGravado2Pagina", value); }
            public decimal? SubtotalMontoGravado3Pagina { get => (decimal?)Get("SubtotalMontoGravado3Pagina"); set => Set("SubtotalMontoGravado3Pagina", value); }
            public decimal? SubtotalExentoPagina { get => (decimal?)Get("SubtotalExentoPagina"); set => Set("SubtotalExentoPagina", value); }
            public decimal? SubtotalItbisPagina { get => (decimal?)Get("SubtotalItbisPagina"); set => Set("SubtotalItbisPagina", value); }
            public decimal? SubtotalItbis1Pagina { get => (decimal?)Get("SubtotalItbis1Pagina"); set => Set("SubtotalItbis1Pagina", value); }
            public decimal? SubtotalItbis2Pagina { get => (decimal?)Get("SubtotalItbis2Pagina"); set => Set("SubtotalItbis2Pagina", value); }
            public decimal? SubtotalItbis3Pagina { get => (decimal?)Get("SubtotalItbis3Pagina"); set => Set("SubtotalItbis3Pagina", value); }
            public decimal? SubtotalImpuestoAdicionalPagina { get => (decimal?)Get("SubtotalImpuestoAdicionalPagina"); set => Set("SubtotalImpuestoAdicionalPagina", value); }
            public EcfSubtotalImpuestoAdicional SubtotalImpuestoAdicional { get => (EcfSubtotalImpuestoAdicional)Get("SubtotalImpuestoAdicional"); set => Set("SubtotalImpuestoAdicional", value); }
            public decimal? MontoSubtotalPagina { get => (decimal?)Get("MontoSubtotalPagina"); set => Set("MontoSubtotalPagina", value); }
            public decimal? SubtotalMontoNoFacturablePagina { get => (decimal?)Get("SubtotalMontoNoFacturablePagina"); set => Set("SubtotalMontoNoFacturablePagina", value); }
        }

        public sealed class EcfPaginacion : Request
        {
            public IReadOnlyList<EcfPagina> Pagina { get => (IReadOnlyList<EcfPagina>)Get("Pagina"); set => Set("Pagina", value); }
        }

        public sealed class EcfRetencion : Request
        {
            public string IndicadorAgenteRetencionoPercepcion { get => (string)Get("IndicadorAgenteRetencionoPercepcion"); set => Set("IndicadorAgenteRetencionoPercepcion", value); }
            public decimal? MontoITBISRetenido { get => (decimal?)Get("MontoITBISRetenido"); set => Set("MontoITBISRetenido", value); }
            public decimal? MontoISRRetenido { get => (decimal?)Get("MontoISRRetenido"); set => Set("MontoISRRetenido", value); }
        }

        public sealed class EcfSubDescuento : Request
        {
            public string TipoSubDescuento { get => (string)Get("TipoSubDescuento"); set => Set("TipoSubDescuento", value); }
            public decimal? SubDescuentoPorcentaje { get => (decimal?)Get("SubDescuentoPorcentaje"); set => Set("SubDescuentoPorcentaje", value); }
            public decimal? MontoSubDescuento { get => (decimal?)Get("MontoSubDescuento"); set => Set("MontoSubDescuento", value); }
        }

        public sealed class EcfSubRecargo : Request
        {
            public string TipoSubRecargo { get => (string)Get("TipoSubRecargo"); set => Set("TipoSubRecargo", value); }
            public decimal? SubRecargoPorcentaje { get => (decimal?)Get("SubRecargoPorcentaje"); set => Set("SubRecargoPorcentaje", value); }
            public decimal? MontoSubRecargo { get => (decimal?)Get("MontoSubRecargo"); set => Set("MontoSubRecargo", value); }
        }

        public sealed class EcfSubcantidadItem : Request
        {
            public decimal? Subcantidad { get => (decimal?)Get("Subcantidad"); set => Set("Subcantidad", value); }
            public string CodigoSubcantidad { get => (string)Get("CodigoSubcantidad"); set => Set("CodigoSubcantidad", value); }
        }

        public sealed class EcfSubtotal : Request
        {
            public long? NumeroSubTotal { get => (long?)Get("NumeroSubTotal"); set => Set("NumeroSubTotal", value); }
            public string DescripcionSubtotal { get => (string)Get("DescripcionSubtotal"); set => Set("DescripcionSubtotal", value); }
            public long? Orden { get => (long?)Get("Orden"); set => Set("Orden", value); }
            public decimal? SubTotalMontoGravadoTotal { get => (decimal?)Get("SubTotalMontoGravadoTotal"); set => Set("SubTotalMontoGravadoTotal", value); }
            public decimal? SubTotalMontoGravadoI1 { get => (decimal?)Get("SubTotalMontoGravadoI1"); set => Set("SubTotalMontoGravadoI1", value); }
            public decimal? SubTotalMontoGravadoI2 { get => (decimal?)Get("SubTotalMontoGravadoI2"); set => Set("SubTotalMontoGravadoI2", value); }
            public decimal? SubTotalMontoGravadoI3 { get => (decimal?)Get("SubTotalMontoGravadoI3"); set => Set("SubTotalMontoGravadoI3", value); }
            public decimal? SubTotaITBIS { get => (decimal?)Get("SubTotaITBIS"); set => Set("SubTotaITBIS", value); }
            public decimal? SubTotaITBIS1 { get => (decimal?)Get("SubTotaITBIS1"); set => Set("SubTotaITBIS1", value); }
            public decimal? SubTotaITBIS2 { get => (decimal?)Get("SubTotaITBIS2"); set => Set("SubTotaITBIS2", value); }
            public decimal? SubTotaITBIS3 { get => (decimal?)Get("SubTotaITBIS3"); set => Set("SubTotaITBIS3", value); }
            public decimal? SubTotalImpuestoAdicional { get => (decimal?)Get("SubTotalImpuestoAdicional"); set => Set("SubTotalImpuestoAdicional", value); }
            public decimal? SubTotalExento { get => (decimal?)Get("SubTotalExento"); set => Set("SubTotalExento", value); }
            public decimal? MontoSubTotal { get => (decimal?)Get("MontoSubTotal"); set => Set("MontoSubTotal", value); }
            public long? Lineas { get => (long?)Get("Lineas"); set => Set("Lineas", value); }
        }

        public sealed class EcfSubtotalImpuestoAdicional : Request
        {
            public decimal? SubtotalImpuestoSelectivoConsumoEspecificoPagina { get => (decimal?)Get("SubtotalImpuestoSelectivoConsumoEspecificoPagina"); set => Set("SubtotalImpuestoSelectivoConsumoEspecificoPagina", value); }
            public decimal? SubtotalOtrosImpuesto { get => (decimal?)Get("SubtotalOtrosImpuesto"); set => Set("SubtotalOtrosImpuesto", value); }
        }

        public sealed class EcfSubtotales : Request
        {
            public IReadOnlyList<EcfSubtotal> Subtotal { get => (IReadOnlyList<EcfSubtotal>)Get("Subtotal"); set => Set("Subtotal", value); }
        }

        public sealed class EcfTablaCodigosItem : Request
        {
            public IReadOnlyList<EcfCodigosItem> CodigosItem { get => (IReadOnlyList<EcfCodigosItem>)Get("CodigosItem"); set => Set("CodigosItem", value); }
        }

        public sealed class EcfTablaFormasPago : Request
        {
            public IReadOnlyList<EcfFormaDePago> FormaDePago { get => (IReadOnlyList<EcfFormaDePago>)Get("FormaDePago"); set => Set("FormaDePago", value); }
        }

        public sealed class EcfTablaImpuestoAdicional : Request
        {
            public IReadOnlyList<EcfItemImpuestoAdicional> ImpuestoAdicional { get => (IReadOnlyList<EcfItemImpuestoAdicional>)Get("ImpuestoAdicional"); set => Set("ImpuestoAdicional", value); }
        }

        public sealed class EcfTablaSubDescuento : Request
        {
            public IReadOnlyList<EcfSubDescuento> SubDescuento { get => (IReadOnlyList<EcfSubDescuento>)Get("SubDescuento"); set => Set("SubDescuento", value); }
        }

        public sealed class EcfTablaSubRecargo : Request
        {
            public IReadOnlyList<EcfSubRecargo> SubRecargo { get => (IReadOnlyList<EcfSubRecargo>)Get("SubRecargo"); set => Set("SubRecargo", value); }
        }

        public sealed class EcfTablaSubcantidad : Request
        {
            public IReadOnlyList<EcfSubcantidadItem> SubcantidadItem { get => (IReadOnlyList<EcfSubcantidadItem>)Get("SubcantidadItem"); set => Set("SubcantidadItem", value); }
        }

        public sealed class EcfTablaTelefonoEmisor : Request
        {
            public IReadOnlyList<string> TelefonoEmisor { get => (IReadOnlyList<string>)Get("TelefonoEmisor"); set => Set("TelefonoEmisor", value); }
        }

        public sealed class EcfTotales : Request
        {
            public decimal? MontoGravadoTotal { get => (decimal?)Get("MontoGravadoTotal"); set => Set("MontoGravadoTotal", value); }
            public decimal? MontoGravadoI1 { get => (decimal?)Get("MontoGravadoI1"); set => Set("MontoGravadoI1", value); }
            public decimal? MontoGravadoI2 { get => (decimal?)Get("MontoGravadoI2"); set => Set("MontoGravadoI2", value); }
            public decimal? MontoGravadoI3 { get => (decimal?)Get("MontoGravadoI3"); set => Set("MontoGravadoI3", value); }
            public decimal? MontoExento { get => (decimal?)Get("MontoExento"); set => Set("MontoExento", value); }
            public long? ITBIS1 { get => (long?)Get("ITBIS1"); set => Set("ITBIS1", value); }
            public long? ITBIS2 { get => (long?)Get("ITBIS2"); set => Set("ITBIS2", value); }
            public long? ITBIS3 { get => (long?)Get("ITBIS3"); set => Set("ITBIS3", value); }
            public decimal? TotalITBIS { get => (decimal?)Get("TotalITBIS"); set => Set("TotalITBIS", value); }
            public decimal? TotalITBIS1 { get => (decimal?)Get("TotalITBIS1"); set => Set("TotalITBIS1", value); }
            public decimal? TotalITBIS2 { get => (decimal?)Get("TotalITBIS2"); set => Set("TotalITBIS2", value); }
            public decimal? TotalITBIS3 { get => (decimal?)Get("TotalITBIS3"); set => Set("TotalITBIS3", value); }
            public decimal? MontoImpuestoAdicional { get => (decimal?)Get("MontoImpuestoAdicional"); set => Set("MontoImpuestoAdicional", value); }
            public EcfImpuestosAdicionales ImpuestosAdicionales { get => (EcfImpuestosAdicionales)Get("ImpuestosAdicionales"); set => Set("ImpuestosAdicionales", value); }
            public decimal? MontoTotal { get => (decimal?)Get("MontoTotal"); set => Set("MontoTotal", value); }
            public decimal? MontoNoFacturable { get => (decimal?)Get("MontoNoFacturable"); set => Set("MontoNoFacturable", value); }
            public decimal? MontoPeriodo { get => (decimal?)Get("MontoPeriodo"); set => Set("MontoPeriodo", value); }
            public decimal? SaldoAnterior { get => (decimal?)Get("SaldoAnterior"); set => Set("SaldoAnterior", value); }
            public decimal? MontoAvancePago { get => (decimal?)Get("MontoAvancePago"); set => Set("MontoAvancePago", value); }
            public decimal? ValorPagar { get => (decimal?)Get("ValorPagar"); set => Set("ValorPagar", value); }
            public decimal? TotalITBISRetenido { get => (decimal?)Get("TotalITBISRetenido"); set => Set("TotalITBISRetenido", value); }
            public decimal? TotalISRRetencion { get => (decimal?)Get("TotalISRRetencion"); set => Set("TotalISRRetencion", value); }
            public decimal? TotalITBISPercepcion { get => (decimal?)Get("TotalITBISPercepcion"); set => Set("TotalITBISPercepcion", value); }
            public decimal? TotalISRPercepcion { get => (decimal?)Get("TotalISRPercepcion"); set => Set("TotalISRPercepcion", value); }
        }

        public sealed class EcfTotalesImpuestoAdicional : Request
        {
            public string TipoImpuesto { get => (string)Get("TipoImpuesto"); set => Set("TipoImpuesto", value); }
            public decimal? TasaImpuestoAdicional { get => (decimal?)Get("TasaImpuestoAdicional"); set => Set("TasaImpuestoAdicional", value); }
            public decimal? MontoImpuestoSelectivoConsumoEspecifico { get => (decimal?)Get("MontoImpuestoSelectivoConsumoEspecifico"); set => Set("MontoImpuestoSelectivoConsumoEspecifico", value); }
            public decimal? MontoImpuestoSelectivoConsumoAdvalorem { get => (decimal?)Get("MontoImpuestoSelectivoConsumoAdvalorem"); set => Set("MontoImpuestoSelectivoConsumoAdvalorem", value); }
            public decimal? OtrosImpuestosAdicionales { get => (decimal?)Get("OtrosImpuestosAdicionales"); set => Set("OtrosImpuestosAdicionales", value); }
        }

        public sealed class EcfTransporte : Request
        {
            public string Conductor { get => (string)Get("Conductor"); set => Set("Conductor", value); }
            public long? DocumentoTransporte { get => (long?)Get("DocumentoTransporte"); set => Set("DocumentoTransporte", value); }
            public string Ficha { get => (string)Get("Ficha"); set => Set("Ficha", value); }
            public string Placa { get => (string)Get("Placa"); set => Set("Placa", value); }
            public string RutaTransporte { get => (string)Get("RutaTransporte"); set => Set("RutaTransporte", value); }
            public string ZonaTransporte { get => (string)Get("ZonaTransporte"); set => Set("ZonaTransporte", value); }
            public string NumeroAlbaran { get => (string)Get("NumeroAlbaran"); set => Set("NumeroAlbaran", value); }
            public string ViaTransporte { get => (string)Get("ViaTransporte"); set => Set("ViaTransporte", value); }
            public string PaisOrigen { get => (string)Get("PaisOrigen"); set => Set("PaisOrigen", value); }
            public string DireccionDestino { get => (string)Get("DireccionDestino"); set => Set("DireccionDestino", value); }
            public string PaisDestino { get => (string)Get("PaisDestino"); set => Set("PaisDestino", value); }
            public string RNCIdentificacionCompaniaTransportista { get => (string)Get("RNCIdentificacionCompaniaTransportista"); set => Set("RNCIdentificacionCompaniaTransportista", value); }
            public string NombreCompaniaTransportista { get => (string)Get("NombreCompaniaTransportista"); set => Set("NombreCompaniaTransportista", value); }
            public string NumeroViaje { get => (string)Get("NumeroViaje"); set => Set("NumeroViaje", value); }
        }

        public sealed class EntryDeleted : Answer
        {
            private EntryDeleted(Json json) : base(json) { }
            public static EntryDeleted From(Json json) => Read(json, each => new EntryDeleted(each));
            public bool? Ok => Truth(json["ok"]);
            public string Id => json["id"].Text;
        }

        public sealed class EnvironmentHealth : Answer
        {
            private EnvironmentHealth(Json json) : base(json) { }
            public static EnvironmentHealth From(Json json) => Read(json, each => new EnvironmentHealth(each));
            public string Environment => json["environment"].Text;
            public IReadOnlyList<OutageAnswer> Outages => List(json["outages"], OutageAnswer.From);
            public IReadOnlyList<ServiceHealth> LastHour => List(json["lastHour"], ServiceHealth.From);
            public IReadOnlyList<ServiceHealth> LastDay => List(json["lastDay"], ServiceHealth.From);
            public IReadOnlyList<PastOutage> PastOutages => List(json["pastOutages"], PastOutage.From);
        }

        public sealed class Error : Answer
        {
            private Error(Json json) : base(json) { }
            public static Error From(Json json) => Read(json, each => new Error(each));
            public string Message => json["message"].Text;
            public long? StatusCode => (long?)json["statusCode"].Amount;
            public string Hint => json["hint"].Text;
            public IReadOnlyList<DocumentProblem> Problems => List(json["problems"], DocumentProblem.From);
        }

        public sealed class ExpenseAnswer : Answer
        {
            private ExpenseAnswer(Json json) : base(json) { }
            public static ExpenseAnswer From(Json json) => Read(json, each => new ExpenseAnswer(each));
            public string Supplier => json["supplier"].Text;
            public string ENCF => json["eNCF"].Text;
            public string Kind => json["kind"].Text;
            public string IsrType => json["isrType"].Text;
            public string Payment => json["payment"].Text;
            public long? PaidAfter => (long?)json["paidAfter"].Amount;
            public string PaidOn => json["paidOn"].Text;
            public string Itbis => json["itbis"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class ExpenseRequest : Request
        {
            public string Kind { get => (string)Get("kind"); set => Set("kind", value); }
            public string ENCF { get => (string)Get("eNCF"); set => Set("eNCF", value); }
            public string IsrType { get => (string)Get("isrType"); set => Set("isrType", value); }
            public string Payment { get => (string)Get("payment"); set => Set("payment", value); }
            public long? PaidAfter { get => (long?)Get("paidAfter"); set => Set("paidAfter", value); }
            public string PaidOn { get => (string)Get("paidOn"); set => Set("paidOn", value); }
            public string Itbis { get => (string)Get("itbis"); set => Set("itbis", value); }
        }

        public sealed class ExplainedMessage : Answer
        {
            private ExplainedMessage(Json json) : base(json) { }
            public static ExplainedMessage From(Json json) => Read(json, each => new ExplainedMessage(each));
            public string Codigo => json["codigo"].Text;
            public string Meaning => json["meaning"].Text;
            public string Action => json["action"].Text;
        }

        public sealed class FailedRequestAnswer : Answer
        {
            private FailedRequestAnswer(Json json) : base(json) { }
            public static FailedRequestAnswer From(Json json) => Read(json, each => new FailedRequestAnswer(each));
            public string Id => json["id"].Text;
            public string At => json["at"].Text;
            public string Environment => json["environment"].Text;
            public string ApiKeyId => json["apiKeyId"].Text;
            public string RequestId => json["requestId"].Text;
            public string Method => json["method"].Text;
            public string Route => json["route"].Text;
            public string Path => json["path"].Text;
            public long? Status => (long?)json["status"].Amount;
            public long? DurationMs => (long?)json["durationMs"].Amount;
            public string Message => json["message"].Text;
            public string MessageEs => json["messageEs"].Text;
            public string Body => json["body"].Text;
        }

        public sealed class FailedRequestsAnswer : Answer
        {
            private FailedRequestsAnswer(Json json) : base(json) { }
            public static FailedRequestsAnswer From(Json json) => Read(json, each => new FailedRequestsAnswer(each));
            public long? Limit => (long?)json["limit"].Amount;
            public IReadOnlyList<FailedRequestAnswer> Items => List(json["items"], FailedRequestAnswer.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class GivenAhead : Request
        {
            public long? MinSequence { get => (long?)Get("minSequence"); set => Set("minSequence", value); }
            public long? MaxSequence { get => (long?)Get("maxSequence"); set => Set("maxSequence", value); }
            public string ExpireAt { get => (string)Get("expireAt"); set => Set("expireAt", value); }
        }

        public sealed class Handing : Answer
        {
            private Handing(Json json) : base(json) { }
            public static Handing From(Json json) => Read(json, each => new Handing(each));
            public string State => json["state"].Text;
            public string Reason => json["reason"].Text;
            public string At => json["at"].Text;
        }

        public sealed class ImportAnswer : Answer
        {
            private ImportAnswer(Json json) : base(json) { }
            public static ImportAnswer From(Json json) => Read(json, each => new ImportAnswer(each));
            public string ImportId => json["importId"].Text;
            public string Environment => json["environment"].Text;
            public string Name => json["name"].Text;
            public string State => json["state"].Text;
            public string CreatedAt => json["createdAt"].Text;
            public long? Receipts => (long?)json["receipts"].Amount;
            public long? Waiting => (long?)json["waiting"].Amount;
            public long? Valid => (long?)json["valid"].Amount;
            public long? Faulty => (long?)json["faulty"].Amount;
            public long? Issued => (long?)json["issued"].Amount;
            public long? IssuedBefore => (long?)json["issuedBefore"].Amount;
            public long? Failed => (long?)json["failed"].Amount;
            public IReadOnlyList<ImportedType> Types => List(json["types"], ImportedType.From);
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public IReadOnlyList<string> Notes => List(json["notes"], each => each.Text);
            public IReadOnlyList<ImportFault> Faults => List(json["faults"], ImportFault.From);
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class ImportFault : Answer
        {
            private ImportFault(Json json) : base(json) { }
            public static ImportFault From(Json json) => Read(json, each => new ImportFault(each));
            public long? Row => (long?)json["row"].Amount;
            public string Column => json["column"].Text;
            public string Heading => json["heading"].Text;
            public string Message => json["message"].Text;
            public string MessageEs => json["messageEs"].Text;
        }

        public sealed class ImportRequest : Request
        {
            public string Name { get => (string)Get("name"); set => Set("name", value); }
            public string Content { get => (string)Get("content"); set => Set("content", value); }
        }

        public sealed class ImportedType : Answer
        {
            private ImportedType(Json json) : base(json) { }
            public static ImportedType From(Json json) => Read(json, each => new ImportedType(each));
            public string Prefix => json["prefix"].Text;
            public long? Receipts => (long?)json["receipts"].Amount;
            public decimal? MontoTotal => json["montoTotal"].Amount;
        }

        public sealed class IncidentAnswer : Answer
        {
            private IncidentAnswer(Json json) : base(json) { }
            public static IncidentAnswer From(Json json) => Read(json, each => new IncidentAnswer(each));
            public string State => json["state"].Text;
            public string Since => json["since"].Text;
            public string Until => json["until"].Text;
        }

        public sealed class IncompletePurchase : Answer
        {
            private IncompletePurchase(Json json) : base(json) { }
            public static IncompletePurchase From(Json json) => Read(json, each => new IncompletePurchase(each));
            public string Supplier => json["supplier"].Text;
            public string SupplierName => json["supplierName"].Text;
            public string ENCF => json["eNCF"].Text;
            public string IssuedOn => json["issuedOn"].Text;
            public IReadOnlyList<string> Missing => List(json["missing"], each => each.Text);
            public string Message => json["message"].Text;
            public string MessageEs => json["messageEs"].Text;
        }

        public sealed class InvoicePreview : Answer
        {
            private InvoicePreview(Json json) : base(json) { }
            public static InvoicePreview From(Json json) => Read(json, each => new InvoicePreview(each));
            public bool? Valid => Truth(json["valid"]);
            public IReadOnlyList<DocumentProblem> Problems => List(json["problems"], DocumentProblem.From);
            public string TipoEcf => json["tipoEcf"].Text;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public decimal? TotalITBIS => json["totalITBIS"].Amount;
            public string RncComprador => json["rncComprador"].Text;
            public string RazonSocialComprador => json["razonSocialComprador"].Text;
            public string FechaEmision => json["fechaEmision"].Text;
            public string ENCF => json["eNCF"].Text;
            public Json Payload => json["payload"];
            public string Xml => json["xml"].Text;
        }

        public sealed class IssuedOfMonth : Answer
        {
            private IssuedOfMonth(Json json) : base(json) { }
            public static IssuedOfMonth From(Json json) => Read(json, each => new IssuedOfMonth(each));
            public string TipoEcf => json["tipoEcf"].Text;
            public string Status => json["status"].Text;
            public long? Receipts => (long?)json["receipts"].Amount;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public decimal? TotalITBIS => json["totalITBIS"].Amount;
            public decimal? Taxed18 => json["taxed18"].Amount;
            public decimal? Itbis18 => json["itbis18"].Amount;
            public decimal? Taxed16 => json["taxed16"].Amount;
            public decimal? Itbis16 => json["itbis16"].Amount;
            public decimal? Taxed0 => json["taxed0"].Amount;
            public decimal? Exempt => json["exempt"].Amount;
            public decimal? ItbisWithheld => json["itbisWithheld"].Amount;
            public decimal? IsrWithheld => json["isrWithheld"].Amount;
            public long? WithoutAmounts => (long?)json["withoutAmounts"].Amount;
        }

        public sealed class Lease : Answer
        {
            private Lease(Json json) : base(json) { }
            public static Lease From(Json json) => Read(json, each => new Lease(each));
            public string AgentId => json["agentId"].Text;
            public string Environment => json["environment"].Text;
            public long? Epoch => (long?)json["epoch"].Amount;
            public Json Issuer => json["issuer"];
            public string ConsumerSummary => json["consumerSummary"].Text;
            public string EcfHost => json["ecfHost"].Text;
            public string FcHost => json["fcHost"].Text;
            public IReadOnlyList<NumberSequence> Sequences => List(json["sequences"], NumberSequence.From);
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class LeaseRequest : Request
        {
            public long? Epoch { get => (long?)Get("epoch"); set => Set("epoch", value); }
            public string Nonce { get => (string)Get("nonce"); set => Set("nonce", value); }
            public string Certificate { get => (string)Get("certificate"); set => Set("certificate", value); }
        }

        public sealed class LoginRequest : Request
        {
            public string ApiKeyId { get => (string)Get("apiKeyId"); set => Set("apiKeyId", value); }
            public string ApiSecret { get => (string)Get("apiSecret"); set => Set("apiSecret", value); }
        }

        public sealed class MailSettingsAnswer : Answer
        {
            private MailSettingsAnswer(Json json) : base(json) { }
            public static MailSettingsAnswer From(Json json) => Read(json, each => new MailSettingsAnswer(each));
            public bool? Enabled => Truth(json["enabled"]);
            public string ReplyTo => json["replyTo"].Text;
            public string Language => json["language"].Text;
            public string Documents => json["documents"].Text;
            public long? ADay => (long?)json["aDay"].Amount;
            public long? ADayAllowed => (long?)json["aDayAllowed"].Amount;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class MailSettingsRequest : Request
        {
            public bool? Enabled { get => (bool?)Get("enabled"); set => Set("enabled", value); }
            public string ReplyTo { get => (string)Get("replyTo"); set => Set("replyTo", value); }
            public string Language { get => (string)Get("language"); set => Set("language", value); }
            public string Documents { get => (string)Get("documents"); set => Set("documents", value); }
            public long? ADay { get => (long?)Get("aDay"); set => Set("aDay", value); }
        }

        public sealed class Mailing : Answer
        {
            private Mailing(Json json) : base(json) { }
            public static Mailing From(Json json) => Read(json, each => new Mailing(each));
            public string State => json["state"].Text;
            public string Address => json["address"].Text;
            public string Reason => json["reason"].Text;
            public string At => json["at"].Text;
        }

        public sealed class ModeAnswer : Answer
        {
            private ModeAnswer(Json json) : base(json) { }
            public static ModeAnswer From(Json json) => Read(json, each => new ModeAnswer(each));
            public string Environment => json["environment"].Text;
            public string Mode => json["mode"].Text;
            public string Since => json["since"].Text;
            public IReadOnlyList<OutageAnswer> Outages => List(json["outages"], OutageAnswer.From);
            public string Reason => json["reason"].Text;
            public string Number => json["number"].Text;
            public string ValidUntil => json["validUntil"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class ModeRequest : Request
        {
            public string Mode { get => (string)Get("mode"); set => Set("mode", value); }
            public string Reason { get => (string)Get("reason"); set => Set("reason", value); }
        }

        public sealed class MonthAnswer : Answer
        {
            private MonthAnswer(Json json) : base(json) { }
            public static MonthAnswer From(Json json) => Read(json, each => new MonthAnswer(each));
            public string Month => json["month"].Text;
            public string Environment => json["environment"].Text;
            public MonthTotalsAnswer Totals => MonthTotalsAnswer.From(json["totals"]);
            public IReadOnlyList<IssuedOfMonth> Issued => List(json["issued"], IssuedOfMonth.From);
            public IReadOnlyList<ReceivedOfMonth> Received => List(json["received"], ReceivedOfMonth.From);
            public IReadOnlyList<NumbersOfMonth> Numbers => List(json["numbers"], NumbersOfMonth.From);
            public IReadOnlyList<SequenceOfMonth> Sequences => List(json["sequences"], SequenceOfMonth.From);
            public bool? IsComplete => Truth(json["isComplete"]);
        }

        public sealed class MonthTotalsAnswer : Answer
        {
            private MonthTotalsAnswer(Json json) : base(json) { }
            public static MonthTotalsAnswer From(Json json) => Read(json, each => new MonthTotalsAnswer(each));
            public decimal? Sales => json["sales"].Amount;
            public decimal? ItbisCharged => json["itbisCharged"].Amount;
            public decimal? Taxed18 => json["taxed18"].Amount;
            public decimal? Taxed16 => json["taxed16"].Amount;
            public decimal? Taxed0 => json["taxed0"].Amount;
            public decimal? Exempt => json["exempt"].Amount;
            public decimal? OwnPurchases => json["ownPurchases"].Amount;
            public decimal? ItbisWithheld => json["itbisWithheld"].Amount;
            public decimal? IsrWithheld => json["isrWithheld"].Amount;
            public decimal? Received => json["received"].Amount;
            public decimal? ItbisPaid => json["itbisPaid"].Amount;
        }

        public sealed class NewGoblInvoice : Request
        {
            public string Format { get => (string)Get("format"); set => Set("format", value); }
            public Json Payload { get => (Json)Get("payload"); set => Set("payload", value); }
            public string ClientRequestId { get => (string)Get("clientRequestId"); set => Set("clientRequestId", value); }
            public string AsUser { get => (string)Get("asUser"); set => Set("asUser", value); }
            public string AsUserId { get => (string)Get("asUserId"); set => Set("asUserId", value); }
            public bool? KeepSignature { get => (bool?)Get("keepSignature"); set => Set("keepSignature", value); }
            public bool? Strict { get => (bool?)Get("strict"); set => Set("strict", value); }
            public Simulate Simulate { get => (Simulate)Get("simulate"); set => Set("simulate", value); }
            public string Sequence { get => (string)Get("sequence"); set => Set("sequence", value); }
            public string Notify { get => (string)Get("notify"); set => Set("notify", value); }
            public Json Metadata { get => (Json)Get("metadata"); set => Set("metadata", value); }
        }

        public sealed class NewSequence : Request
        {
            public long? MinSequence { get => (long?)Get("minSequence"); set => Set("minSequence", value); }
            public long? MaxSequence { get => (long?)Get("maxSequence"); set => Set("maxSequence", value); }
            public string ExpireAt { get => (string)Get("expireAt"); set => Set("expireAt", value); }
            public bool? IsActive { get => (bool?)Get("isActive"); set => Set("isActive", value); }
            public IReadOnlyList<string> Users { get => (IReadOnlyList<string>)Get("users"); set => Set("users", value); }
            public string AgentId { get => (string)Get("agentId"); set => Set("agentId", value); }
            public GivenAhead NextRange { get => (GivenAhead)Get("nextRange"); set => Set("nextRange", value); }
            public string Prefix { get => (string)Get("prefix"); set => Set("prefix", value); }
            public string Name { get => (string)Get("name"); set => Set("name", value); }
        }

        public sealed class NewStructuredInvoice : Request
        {
            public string Format { get => (string)Get("format"); set => Set("format", value); }
            public object Payload { get => (object)Get("payload"); set => Set("payload", value); }
            public string ClientRequestId { get => (string)Get("clientRequestId"); set => Set("clientRequestId", value); }
            public string AsUser { get => (string)Get("asUser"); set => Set("asUser", value); }
            public string AsUserId { get => (string)Get("asUserId"); set => Set("asUserId", value); }
            public bool? KeepSignature { get => (bool?)Get("keepSignature"); set => Set("keepSignature", value); }
            public bool? Strict { get => (bool?)Get("strict"); set => Set("strict", value); }
            public Simulate Simulate { get => (Simulate)Get("simulate"); set => Set("simulate", value); }
            public string Sequence { get => (string)Get("sequence"); set => Set("sequence", value); }
            public string Notify { get => (string)Get("notify"); set => Set("notify", value); }
            public Json Metadata { get => (Json)Get("metadata"); set => Set("metadata", value); }
        }

        public sealed class NewXmlInvoice : Request
        {
            public string Format { get => (string)Get("format"); set => Set("format", value); }
            public string Xml { get => (string)Get("xml"); set => Set("xml", value); }
            public string ClientRequestId { get => (string)Get("clientRequestId"); set => Set("clientRequestId", value); }
            public string AsUser { get => (string)Get("asUser"); set => Set("asUser", value); }
            public string AsUserId { get => (string)Get("asUserId"); set => Set("asUserId", value); }
            public bool? KeepSignature { get => (bool?)Get("keepSignature"); set => Set("keepSignature", value); }
            public bool? Strict { get => (bool?)Get("strict"); set => Set("strict", value); }
            public Simulate Simulate { get => (Simulate)Get("simulate"); set => Set("simulate", value); }
            public string Sequence { get => (string)Get("sequence"); set => Set("sequence", value); }
            public string Notify { get => (string)Get("notify"); set => Set("notify", value); }
            public Json Metadata { get => (Json)Get("metadata"); set => Set("metadata", value); }
        }

        public sealed class NotFound : Answer
        {
            private NotFound(Json json) : base(json) { }
            public static NotFound From(Json json) => Read(json, each => new NotFound(each));
            public bool? Found => Truth(json["found"]);
            public string Hint => json["hint"].Text;
        }

        public sealed class NumberGapAnswer : Answer
        {
            private NumberGapAnswer(Json json) : base(json) { }
            public static NumberGapAnswer From(Json json) => Read(json, each => new NumberGapAnswer(each));
            public string First => json["first"].Text;
            public string Last => json["last"].Text;
        }

        public sealed class NumberRangeAnswer : Answer
        {
            private NumberRangeAnswer(Json json) : base(json) { }
            public static NumberRangeAnswer From(Json json) => Read(json, each => new NumberRangeAnswer(each));
            public string First => json["first"].Text;
            public string Last => json["last"].Text;
        }

        public sealed class NumberSequence : Answer
        {
            private NumberSequence(Json json) : base(json) { }
            public static NumberSequence From(Json json) => Read(json, each => new NumberSequence(each));
            public string Id => json["id"].Text;
            public string Type => json["type"].Text;
            public string Prefix => json["prefix"].Text;
            public string Name => json["name"].Text;
            public IReadOnlyList<string> Users => List(json["users"], each => each.Text);
            public string AgentId => json["agentId"].Text;
            public string Description => json["description"].Text;
            public string MinSequence => json["minSequence"].Text;
            public string MaxSequence => json["maxSequence"].Text;
            public string CurrentSequence => json["currentSequence"].Text;
            public bool? IsActive => Truth(json["isActive"]);
            public string ExpireAt => json["expireAt"].Text;
            public string ExpireOn => json["expireOn"].Text;
            public string PausedAt => json["pausedAt"].Text;
            public string PausedFor => json["pausedFor"].Text;
            public RangeAhead NextRange => RangeAhead.From(json["nextRange"]);
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class NumbersOfMonth : Answer
        {
            private NumbersOfMonth(Json json) : base(json) { }
            public static NumbersOfMonth From(Json json) => Read(json, each => new NumbersOfMonth(each));
            public string Prefix => json["prefix"].Text;
            public string First => json["first"].Text;
            public string Last => json["last"].Text;
            public long? Drawn => (long?)json["drawn"].Amount;
            public long? Accepted => (long?)json["accepted"].Amount;
            public long? Rejected => (long?)json["rejected"].Amount;
            public long? Failed => (long?)json["failed"].Amount;
            public long? Others => (long?)json["others"].Amount;
            public long? WithoutReceipt => (long?)json["withoutReceipt"].Amount;
            public long? Void => (long?)json["void"].Amount;
            public IReadOnlyList<NumberGapAnswer> Gaps => List(json["gaps"], NumberGapAnswer.From);
        }

        public sealed class OutageAnswer : Answer
        {
            private OutageAnswer(Json json) : base(json) { }
            public static OutageAnswer From(Json json) => Read(json, each => new OutageAnswer(each));
            public string Host => json["host"].Text;
            public string Since => json["since"].Text;
        }

        public sealed class PaperContent : Request
        {
            public string IssuedOn { get => (string)Get("issuedOn"); set => Set("issuedOn", value); }
            public Json Payload { get => (Json)Get("payload"); set => Set("payload", value); }
        }

        public sealed class PaperEntered : Answer
        {
            private PaperEntered(Json json) : base(json) { }
            public static PaperEntered From(Json json) => Read(json, each => new PaperEntered(each));
            public long? StatusCode => (long?)json["statusCode"].Amount;
            public string Message => json["message"].Text;
            public string Ncf => json["ncf"].Text;
            public PaperReceiptAnswer Receipt => PaperReceiptAnswer.From(json["receipt"]);
            public IReadOnlyList<DocumentProblem> Problems => List(json["problems"], DocumentProblem.From);
        }

        public sealed class PaperEnteredAnswer : Answer
        {
            private PaperEnteredAnswer(Json json) : base(json) { }
            public static PaperEnteredAnswer From(Json json) => Read(json, each => new PaperEnteredAnswer(each));
            public IReadOnlyList<PaperEntered> Items => List(json["items"], PaperEntered.From);
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class PaperRangeAnswer : Answer
        {
            private PaperRangeAnswer(Json json) : base(json) { }
            public static PaperRangeAnswer From(Json json) => Read(json, each => new PaperRangeAnswer(each));
            public string RangeId => json["rangeId"].Text;
            public string Environment => json["environment"].Text;
            public string First => json["first"].Text;
            public string Last => json["last"].Text;
            public string Next => json["next"].Text;
            public string ExpiresOn => json["expiresOn"].Text;
            public string RecordedAt => json["recordedAt"].Text;
            public string RecordedBy => json["recordedBy"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class PaperRangeDeleted : Answer
        {
            private PaperRangeDeleted(Json json) : base(json) { }
            public static PaperRangeDeleted From(Json json) => Read(json, each => new PaperRangeDeleted(each));
            public bool? Ok => Truth(json["ok"]);
            public string RangeId => json["rangeId"].Text;
        }

        public sealed class PaperRangeRequest : Request
        {
            public string First { get => (string)Get("first"); set => Set("first", value); }
            public string Last { get => (string)Get("last"); set => Set("last", value); }
            public string ExpiresOn { get => (string)Get("expiresOn"); set => Set("expiresOn", value); }
        }

        public sealed class PaperRangesAnswer : Answer
        {
            private PaperRangesAnswer(Json json) : base(json) { }
            public static PaperRangesAnswer From(Json json) => Read(json, each => new PaperRangesAnswer(each));
            public IReadOnlyList<PaperRangeAnswer> Items => List(json["items"], PaperRangeAnswer.From);
        }

        public sealed class PaperReceiptAnswer : Answer
        {
            private PaperReceiptAnswer(Json json) : base(json) { }
            public static PaperReceiptAnswer From(Json json) => Read(json, each => new PaperReceiptAnswer(each));
            public string Ncf => json["ncf"].Text;
            public string Environment => json["environment"].Text;
            public string IssuedOn => json["issuedOn"].Text;
            public string ExpiresOn => json["expiresOn"].Text;
            public string Contingency => json["contingency"].Text;
            public string BuyerRnc => json["buyerRnc"].Text;
            public string BuyerName => json["buyerName"].Text;
            public decimal? Total => json["total"].Amount;
            public decimal? Itbis => json["itbis"].Amount;
            public string State => json["state"].Text;
            public string ReplaceBy => json["replaceBy"].Text;
            public string TaxLogId => json["taxLogId"].Text;
            public string ENCF => json["eNCF"].Text;
            public string ReplacedAt => json["replacedAt"].Text;
            public string ClientRequestId => json["clientRequestId"].Text;
            public string EnteredAt => json["enteredAt"].Text;
            public string EnteredBy => json["enteredBy"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class PaperReceiptRequest : Request
        {
            public string IssuedOn { get => (string)Get("issuedOn"); set => Set("issuedOn", value); }
            public Json Payload { get => (Json)Get("payload"); set => Set("payload", value); }
            public string Ncf { get => (string)Get("ncf"); set => Set("ncf", value); }
            public string ClientRequestId { get => (string)Get("clientRequestId"); set => Set("clientRequestId", value); }
        }

        public sealed class PaperReceiptsAnswer : Answer
        {
            private PaperReceiptsAnswer(Json json) : base(json) { }
            public static PaperReceiptsAnswer From(Json json) => Read(json, each => new PaperReceiptsAnswer(each));
            public IReadOnlyList<PaperReceiptAnswer> Items => List(json["items"], PaperReceiptAnswer.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class PaperReceiptsRequest : Request
        {
            public IReadOnlyList<PaperReceiptRequest> Receipts { get => (IReadOnlyList<PaperReceiptRequest>)Get("receipts"); set => Set("receipts", value); }
        }

        public sealed class PartStatus : Answer
        {
            private PartStatus(Json json) : base(json) { }
            public static PartStatus From(Json json) => Read(json, each => new PartStatus(each));
            public string Part => json["part"].Text;
            public string State => json["state"].Text;
            public string Since => json["since"].Text;
            public IReadOnlyList<DayStatus> Days => List(json["days"], DayStatus.From);
            public IReadOnlyList<IncidentAnswer> Incidents => List(json["incidents"], IncidentAnswer.From);
        }

        public sealed class PastOutage : Answer
        {
            private PastOutage(Json json) : base(json) { }
            public static PastOutage From(Json json) => Read(json, each => new PastOutage(each));
            public string Host => json["host"].Text;
            public string Since => json["since"].Text;
            public string Until => json["until"].Text;
        }

        public sealed class PrefixName : Answer
        {
            private PrefixName(Json json) : base(json) { }
            public static PrefixName From(Json json) => Read(json, each => new PrefixName(each));
            public string Code => json["code"].Text;
            public string Name => json["name"].Text;
            public string NameEs => json["nameEs"].Text;
        }

        public sealed class PreviewAnswer : Answer
        {
            private PreviewAnswer(Json json) : base(json) { }
            public static PreviewAnswer From(Json json) => Read(json, each => new PreviewAnswer(each));
            public string DueOn => json["dueOn"].Text;
            public string Type => json["type"].Text;
            public string BuyerName => json["buyerName"].Text;
            public string BuyerRnc => json["buyerRnc"].Text;
            public decimal? Total => json["total"].Amount;
            public decimal? Itbis => json["itbis"].Amount;
            public string Reason => json["reason"].Text;
            public IReadOnlyList<string> Messages => List(json["messages"], each => each.Text);
        }

        public sealed class PrintManyRequest : Request
        {
            public IReadOnlyList<string> Ids { get => (IReadOnlyList<string>)Get("ids"); set => Set("ids", value); }
        }

        public sealed class PrintSettingsAnswer : Answer
        {
            private PrintSettingsAnswer(Json json) : base(json) { }
            public static PrintSettingsAnswer From(Json json) => Read(json, each => new PrintSettingsAnswer(each));
            public string Logo => json["logo"].Text;
            public string Accent => json["accent"].Text;
            public string Footer => json["footer"].Text;
            public IReadOnlyList<string> Marks => List(json["marks"], each => each.Text);
            public string Language => json["language"].Text;
            public string Layout => json["layout"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class PrintSettingsRequest : Request
        {
            public string Logo { get => (string)Get("logo"); set => Set("logo", value); }
            public string Accent { get => (string)Get("accent"); set => Set("accent", value); }
            public string Footer { get => (string)Get("footer"); set => Set("footer", value); }
            public IReadOnlyList<string> Marks { get => (IReadOnlyList<string>)Get("marks"); set => Set("marks", value); }
            public string Language { get => (string)Get("language"); set => Set("language", value); }
            public string Layout { get => (string)Get("layout"); set => Set("layout", value); }
        }

        public sealed class ProbeEvent : Answer
        {
            private ProbeEvent(Json json) : base(json) { }
            public static ProbeEvent From(Json json) => Read(json, each => new ProbeEvent(each));
            public string Event => json["event"].Text;
            public string SentAt => json["sentAt"].Text;
            public ProbeMessage Test => ProbeMessage.From(json["test"]);
        }

        public sealed class ProbeMessage : Answer
        {
            private ProbeMessage(Json json) : base(json) { }
            public static ProbeMessage From(Json json) => Read(json, each => new ProbeMessage(each));
            public string Message => json["message"].Text;
        }

        public sealed class ProblemRepair : Answer
        {
            private ProblemRepair(Json json) : base(json) { }
            public static ProblemRepair From(Json json) => Read(json, each => new ProblemRepair(each));
            public string Op => json["op"].Text;
            public string Path => json["path"].Text;
            public Json Value => json["value"];
            public string To => json["to"].Text;
            public bool? Certain => Truth(json["certain"]);
        }

        public sealed class ProductItem : Answer
        {
            private ProductItem(Json json) : base(json) { }
            public static ProductItem From(Json json) => Read(json, each => new ProductItem(each));
            public string Id => json["id"].Text;
            public string Name => json["name"].Text;
            public string Code => json["code"].Text;
            public string Unit => json["unit"].Text;
            public decimal? Price => json["price"].Amount;
            public bool? PriceHasItbis => Truth(json["priceHasItbis"]);
            public string Itbis => json["itbis"].Text;
            public string Kind => json["kind"].Text;
            public IReadOnlyList<string> AdditionalTaxes => List(json["additionalTaxes"], each => each.Text);
            public string Source => json["source"].Text;
            public long? Version => (long?)json["version"].Amount;
            public string ChangedAt => json["changedAt"].Text;
            public string UsedAt => json["usedAt"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class ProductList : Answer
        {
            private ProductList(Json json) : base(json) { }
            public static ProductList From(Json json) => Read(json, each => new ProductList(each));
            public long? Limit => (long?)json["limit"].Amount;
            public IReadOnlyList<ProductItem> Items => List(json["items"], ProductItem.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class ProductRequest : Request
        {
            public string Name { get => (string)Get("name"); set => Set("name", value); }
            public string Code { get => (string)Get("code"); set => Set("code", value); }
            public string Unit { get => (string)Get("unit"); set => Set("unit", value); }
            public decimal? Price { get => (decimal?)Get("price"); set => Set("price", value); }
            public bool? PriceHasItbis { get => (bool?)Get("priceHasItbis"); set => Set("priceHasItbis", value); }
            public string Itbis { get => (string)Get("itbis"); set => Set("itbis", value); }
            public string Kind { get => (string)Get("kind"); set => Set("kind", value); }
            public IReadOnlyList<string> AdditionalTaxes { get => (IReadOnlyList<string>)Get("additionalTaxes"); set => Set("additionalTaxes", value); }
            public long? Version { get => (long?)Get("version"); set => Set("version", value); }
        }

        public sealed class ProposalsAnswer : Answer
        {
            private ProposalsAnswer(Json json) : base(json) { }
            public static ProposalsAnswer From(Json json) => Read(json, each => new ProposalsAnswer(each));
            public IReadOnlyList<ProposedRange> Items => List(json["items"], ProposedRange.From);
        }

        public sealed class ProposedRange : Answer
        {
            private ProposedRange(Json json) : base(json) { }
            public static ProposedRange From(Json json) => Read(json, each => new ProposedRange(each));
            public string First => json["first"].Text;
            public string Last => json["last"].Text;
            public long? Numbers => (long?)json["numbers"].Amount;
            public string Why => json["why"].Text;
        }

        public sealed class PurchasesAnswer : Answer
        {
            private PurchasesAnswer(Json json) : base(json) { }
            public static PurchasesAnswer From(Json json) => Read(json, each => new PurchasesAnswer(each));
            public string Month => json["month"].Text;
            public string Environment => json["environment"].Text;
            public string FileName => json["fileName"].Text;
            public long? Rows => (long?)json["rows"].Amount;
            public long? Incomplete => (long?)json["incomplete"].Amount;
            public IReadOnlyList<IncompletePurchase> Missing => List(json["missing"], IncompletePurchase.From);
            public IReadOnlyList<PurchasesRemark> Remarks => List(json["remarks"], PurchasesRemark.From);
            public string Content => json["content"].Text;
        }

        public sealed class PurchasesRemark : Answer
        {
            private PurchasesRemark(Json json) : base(json) { }
            public static PurchasesRemark From(Json json) => Read(json, each => new PurchasesRemark(each));
            public string Code => json["code"].Text;
            public long? Receipts => (long?)json["receipts"].Amount;
            public string Message => json["message"].Text;
            public string MessageEs => json["messageEs"].Text;
        }

        public sealed class RangeAhead : Answer
        {
            private RangeAhead(Json json) : base(json) { }
            public static RangeAhead From(Json json) => Read(json, each => new RangeAhead(each));
            public string MinSequence => json["minSequence"].Text;
            public string MaxSequence => json["maxSequence"].Text;
            public string ExpireAt => json["expireAt"].Text;
            public string ExpireOn => json["expireOn"].Text;
        }

        public sealed class ReceivedApproval : Answer
        {
            private ReceivedApproval(Json json) : base(json) { }
            public static ReceivedApproval From(Json json) => Read(json, each => new ReceivedApproval(each));
            public string Decision => json["decision"].Text;
            public string Reason => json["reason"].Text;
            public string TaxLogId => json["taxLogId"].Text;
            public string DecidedAt => json["decidedAt"].Text;
            public ApprovalAtAuthority Authority => ApprovalAtAuthority.From(json["authority"]);
            public Handing Issuer => Handing.From(json["issuer"]);
        }

        public sealed class ReceivedEcf : Answer
        {
            private ReceivedEcf(Json json) : base(json) { }
            public static ReceivedEcf From(Json json) => Read(json, each => new ReceivedEcf(each));
            public string Id => json["id"].Text;
            public string Encf => json["encf"].Text;
            public string TipoEcf => json["tipoEcf"].Text;
            public string RncEmisor => json["rncEmisor"].Text;
            public string RncComprador => json["rncComprador"].Text;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public string FechaEmision => json["fechaEmision"].Text;
            public string ApprovalStatus => json["approvalStatus"].Text;
            public string ReceivedAt => json["receivedAt"].Text;
        }

        public sealed class ReceivedEcfEvent : Answer
        {
            private ReceivedEcfEvent(Json json) : base(json) { }
            public static ReceivedEcfEvent From(Json json) => Read(json, each => new ReceivedEcfEvent(each));
            public string Event => json["event"].Text;
            public string SentAt => json["sentAt"].Text;
            public ReceivedEcf ReceivedEcf => ReceivedEcf.From(json["receivedEcf"]);
            public string Xml => json["xml"].Text;
        }

        public sealed class ReceivedItem : Answer
        {
            private ReceivedItem(Json json) : base(json) { }
            public static ReceivedItem From(Json json) => Read(json, each => new ReceivedItem(each));
            public string Id => json["id"].Text;
            public string Environment => json["environment"].Text;
            public string Encf => json["encf"].Text;
            public string TipoEcf => json["tipoEcf"].Text;
            public string RncEmisor => json["rncEmisor"].Text;
            public string RazonSocialEmisor => json["razonSocialEmisor"].Text;
            public string RncComprador => json["rncComprador"].Text;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public string FechaEmision => json["fechaEmision"].Text;
            public string ApprovalStatus => json["approvalStatus"].Text;
            public string ReceivedAt => json["receivedAt"].Text;
            public ReceivedApproval Approval => ReceivedApproval.From(json["approval"]);
        }

        public sealed class ReceivedOfMonth : Answer
        {
            private ReceivedOfMonth(Json json) : base(json) { }
            public static ReceivedOfMonth From(Json json) => Read(json, each => new ReceivedOfMonth(each));
            public string TipoEcf => json["tipoEcf"].Text;
            public long? Receipts => (long?)json["receipts"].Amount;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public decimal? TotalITBIS => json["totalITBIS"].Amount;
            public long? Rejected => (long?)json["rejected"].Amount;
        }

        public sealed class ReceivedPage : Answer
        {
            private ReceivedPage(Json json) : base(json) { }
            public static ReceivedPage From(Json json) => Read(json, each => new ReceivedPage(each));
            public long? Page => (long?)json["page"].Amount;
            public long? Limit => (long?)json["limit"].Amount;
            public long? Total => (long?)json["total"].Amount;
            public IReadOnlyList<ReceivedItem> Items => List(json["items"], ReceivedItem.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class ReceivedStretch : Answer
        {
            private ReceivedStretch(Json json) : base(json) { }
            public static ReceivedStretch From(Json json) => Read(json, each => new ReceivedStretch(each));
            public long? Limit => (long?)json["limit"].Amount;
            public IReadOnlyList<ReceivedItem> Items => List(json["items"], ReceivedItem.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class ReceivedXml : Answer
        {
            private ReceivedXml(Json json) : base(json) { }
            public static ReceivedXml From(Json json) => Read(json, each => new ReceivedXml(each));
            public string Id => json["id"].Text;
            public string Environment => json["environment"].Text;
            public string Xml => json["xml"].Text;
            public string Acknowledgement => json["acknowledgement"].Text;
        }

        public sealed class Recoveries : Answer
        {
            private Recoveries(Json json) : base(json) { }
            public static Recoveries From(Json json) => Read(json, each => new Recoveries(each));
            public IReadOnlyList<Recovery> Items => List(json["items"], Recovery.From);
        }

        public sealed class Recovery : Answer
        {
            private Recovery(Json json) : base(json) { }
            public static Recovery From(Json json) => Read(json, each => new Recovery(each));
            public string Id => json["id"].Text;
            public string WebhookId => json["webhookId"].Text;
            public string Since => json["since"].Text;
            public string Until => json["until"].Text;
            public string State => json["state"].Text;
            public long? Recovered => (long?)json["recovered"].Amount;
            public string AskedAt => json["askedAt"].Text;
            public string FinishedAt => json["finishedAt"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class RecoveryRequest : Request
        {
            public string Since { get => (string)Get("since"); set => Set("since", value); }
            public string Endpoint { get => (string)Get("endpoint"); set => Set("endpoint", value); }
        }

        public sealed class RecurringAnswer : Answer
        {
            private RecurringAnswer(Json json) : base(json) { }
            public static RecurringAnswer From(Json json) => Read(json, each => new RecurringAnswer(each));
            public string Id => json["id"].Text;
            public string Name => json["name"].Text;
            public string Status => json["status"].Text;
            public long? Day => (long?)json["day"].Amount;
            public long? EveryMonths => (long?)json["everyMonths"].Amount;
            public string NextOn => json["nextOn"].Text;
            public long? Held => (long?)json["held"].Amount;
            public long? Version => (long?)json["version"].Amount;
            public string ChangedAt => json["changedAt"].Text;
            public string Environment => json["environment"].Text;
            public string StartsOn => json["startsOn"].Text;
            public string EndsOn => json["endsOn"].Text;
            public IReadOnlyList<string> NextDays => List(json["nextDays"], each => each.Text);
            public string Customer => json["customer"].Text;
            public long? PaymentDays => (long?)json["paymentDays"].Amount;
            public Json Payload => json["payload"];
            public string AsUser => json["asUser"].Text;
            public string AsUserId => json["asUserId"].Text;
            public string Notify => json["notify"].Text;
            public string Sequence => json["sequence"].Text;
            public PreviewAnswer Preview => PreviewAnswer.From(json["preview"]);
            public IReadOnlyList<RecurringTurn> Turns => List(json["turns"], RecurringTurn.From);
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class RecurringDeleted : Answer
        {
            private RecurringDeleted(Json json) : base(json) { }
            public static RecurringDeleted From(Json json) => Read(json, each => new RecurringDeleted(each));
            public bool? Ok => Truth(json["ok"]);
            public string Id => json["id"].Text;
        }

        public sealed class RecurringHeld : Answer
        {
            private RecurringHeld(Json json) : base(json) { }
            public static RecurringHeld From(Json json) => Read(json, each => new RecurringHeld(each));
            public string Id => json["id"].Text;
            public string Name => json["name"].Text;
            public string Environment => json["environment"].Text;
            public string DueOn => json["dueOn"].Text;
            public string Reason => json["reason"].Text;
            public IReadOnlyList<string> Messages => List(json["messages"], each => each.Text);
            public IReadOnlyList<string> MessagesEs => List(json["messagesEs"], each => each.Text);
        }

        public sealed class RecurringHeldEvent : Answer
        {
            private RecurringHeldEvent(Json json) : base(json) { }
            public static RecurringHeldEvent From(Json json) => Read(json, each => new RecurringHeldEvent(each));
            public string Event => json["event"].Text;
            public string SentAt => json["sentAt"].Text;
            public RecurringHeld Recurring => RecurringHeld.From(json["recurring"]);
        }

        public sealed class RecurringList : Answer
        {
            private RecurringList(Json json) : base(json) { }
            public static RecurringList From(Json json) => Read(json, each => new RecurringList(each));
            public long? Limit => (long?)json["limit"].Amount;
            public IReadOnlyList<RecurringSummary> Items => List(json["items"], RecurringSummary.From);
            public string NextCursor => json["nextCursor"].Text;
        }

        public sealed class RecurringPreview : Answer
        {
            private RecurringPreview(Json json) : base(json) { }
            public static RecurringPreview From(Json json) => Read(json, each => new RecurringPreview(each));
            public string Id => json["id"].Text;
            public string Name => json["name"].Text;
            public string Environment => json["environment"].Text;
            public string DueOn => json["dueOn"].Text;
            public string Type => json["type"].Text;
            public string BuyerName => json["buyerName"].Text;
            public string BuyerRnc => json["buyerRnc"].Text;
            public decimal? Total => json["total"].Amount;
            public decimal? Itbis => json["itbis"].Amount;
            public string Reason => json["reason"].Text;
            public IReadOnlyList<string> Messages => List(json["messages"], each => each.Text);
            public IReadOnlyList<string> MessagesEs => List(json["messagesEs"], each => each.Text);
        }

        public sealed class RecurringPreviewEvent : Answer
        {
            private RecurringPreviewEvent(Json json) : base(json) { }
            public static RecurringPreviewEvent From(Json json) => Read(json, each => new RecurringPreviewEvent(each));
            public string Event => json["event"].Text;
            public string SentAt => json["sentAt"].Text;
            public RecurringPreview Recurring => RecurringPreview.From(json["recurring"]);
        }

        public sealed class RecurringRequest : Request
        {
            public string Name { get => (string)Get("name"); set => Set("name", value); }
            public long? Day { get => (long?)Get("day"); set => Set("day", value); }
            public long? EveryMonths { get => (long?)Get("everyMonths"); set => Set("everyMonths", value); }
            public string StartsOn { get => (string)Get("startsOn"); set => Set("startsOn", value); }
            public string EndsOn { get => (string)Get("endsOn"); set => Set("endsOn", value); }
            public string Status { get => (string)Get("status"); set => Set("status", value); }
            public string Customer { get => (string)Get("customer"); set => Set("customer", value); }
            public long? PaymentDays { get => (long?)Get("paymentDays"); set => Set("paymentDays", value); }
            public Json Payload { get => (Json)Get("payload"); set => Set("payload", value); }
            public string AsUser { get => (string)Get("asUser"); set => Set("asUser", value); }
            public string AsUserId { get => (string)Get("asUserId"); set => Set("asUserId", value); }
            public string Notify { get => (string)Get("notify"); set => Set("notify", value); }
            public string Sequence { get => (string)Get("sequence"); set => Set("sequence", value); }
            public long? Version { get => (long?)Get("version"); set => Set("version", value); }
        }

        public sealed class RecurringSummary : Answer
        {
            private RecurringSummary(Json json) : base(json) { }
            public static RecurringSummary From(Json json) => Read(json, each => new RecurringSummary(each));
            public string Id => json["id"].Text;
            public string Name => json["name"].Text;
            public string Status => json["status"].Text;
            public long? Day => (long?)json["day"].Amount;
            public long? EveryMonths => (long?)json["everyMonths"].Amount;
            public string NextOn => json["nextOn"].Text;
            public long? Held => (long?)json["held"].Amount;
            public long? Version => (long?)json["version"].Amount;
            public string ChangedAt => json["changedAt"].Text;
        }

        public sealed class RecurringTurn : Answer
        {
            private RecurringTurn(Json json) : base(json) { }
            public static RecurringTurn From(Json json) => Read(json, each => new RecurringTurn(each));
            public string Month => json["month"].Text;
            public string DueOn => json["dueOn"].Text;
            public string Status => json["status"].Text;
            public string Reason => json["reason"].Text;
            public IReadOnlyList<string> Messages => List(json["messages"], each => each.Text);
            public string TriedAt => json["triedAt"].Text;
            public string RetryAt => json["retryAt"].Text;
            public string ClientRequestId => json["clientRequestId"].Text;
            public string TaxLogId => json["taxLogId"].Text;
            public string ENCF => json["eNCF"].Text;
        }

        public sealed class RejectReceived : Request
        {
            public string ClientRequestId { get => (string)Get("clientRequestId"); set => Set("clientRequestId", value); }
            public string AsUser { get => (string)Get("asUser"); set => Set("asUser", value); }
            public string AsUserId { get => (string)Get("asUserId"); set => Set("asUserId", value); }
            public string Reason { get => (string)Get("reason"); set => Set("reason", value); }
        }

        public sealed class ReplacementItem : Answer
        {
            private ReplacementItem(Json json) : base(json) { }
            public static ReplacementItem From(Json json) => Read(json, each => new ReplacementItem(each));
            public string Ncf => json["ncf"].Text;
            public string State => json["state"].Text;
            public bool? Issued => Truth(json["issued"]);
            public string TaxLogId => json["taxLogId"].Text;
            public string ENCF => json["eNCF"].Text;
            public IReadOnlyList<DocumentProblem> Problems => List(json["problems"], DocumentProblem.From);
        }

        public sealed class ReplacementsAnswer : Answer
        {
            private ReplacementsAnswer(Json json) : base(json) { }
            public static ReplacementsAnswer From(Json json) => Read(json, each => new ReplacementsAnswer(each));
            public IReadOnlyList<ReplacementItem> Items => List(json["items"], ReplacementItem.From);
            public long? Open => (long?)json["open"].Amount;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class ReplacementsRequest : Request
        {
            public IReadOnlyList<string> Ncfs { get => (IReadOnlyList<string>)Get("ncfs"); set => Set("ncfs", value); }
        }

        public sealed class RevokedAnswer : Answer
        {
            private RevokedAnswer(Json json) : base(json) { }
            public static RevokedAnswer From(Json json) => Read(json, each => new RevokedAnswer(each));
            public bool? Ok => Truth(json["ok"]);
            public bool? Revoked => Truth(json["revoked"]);
        }

        public sealed class Rfce : Request
        {
            public RfceEncabezado Encabezado { get => (RfceEncabezado)Get("Encabezado"); set => Set("Encabezado", value); }
        }

        public sealed class RfceComprador : Request
        {
            public string RNCComprador { get => (string)Get("RNCComprador"); set => Set("RNCComprador", value); }
            public string IdentificadorExtranjero { get => (string)Get("IdentificadorExtranjero"); set => Set("IdentificadorExtranjero", value); }
            public string RazonSocialComprador { get => (string)Get("RazonSocialComprador"); set => Set("RazonSocialComprador", value); }
        }

        public sealed class RfceEmisor : Request
        {
            public string RNCEmisor { get => (string)Get("RNCEmisor"); set => Set("RNCEmisor", value); }
            public string RazonSocialEmisor { get => (string)Get("RazonSocialEmisor"); set => Set("RazonSocialEmisor", value); }
            public string FechaEmision { get => (string)Get("FechaEmision"); set => Set("FechaEmision", value); }
        }

        public sealed class RfceEncabezado : Request
        {
            public string Version { get => (string)Get("Version"); set => Set("Version", value); }
            public RfceIdDoc IdDoc { get => (RfceIdDoc)Get("IdDoc"); set => Set("IdDoc", value); }
            public RfceEmisor Emisor { get => (RfceEmisor)Get("Emisor"); set => Set("Emisor", value); }
            public RfceComprador Comprador { get => (RfceComprador)Get("Comprador"); set => Set("Comprador", value); }
            public RfceTotales Totales { get => (RfceTotales)Get("Totales"); set => Set("Totales", value); }
            public string CodigoSeguridadeCF { get => (string)Get("CodigoSeguridadeCF"); set => Set("CodigoSeguridadeCF", value); }
        }

        public sealed class RfceFormaDePago : Request
        {
            public string FormaPago { get => (string)Get("FormaPago"); set => Set("FormaPago", value); }
            public decimal? MontoPago { get => (decimal?)Get("MontoPago"); set => Set("MontoPago", value); }
        }

        public sealed class RfceIdDoc : Request
        {
            public string TipoeCF { get => (string)Get("TipoeCF"); set => Set("TipoeCF", value); }
            public string ENCF { get => (string)Get("eNCF"); set => Set("eNCF", value); }
            public string TipoIngresos { get => (string)Get("TipoIngresos"); set => Set("TipoIngresos", value); }
            public string TipoPago { get => (string)Get("TipoPago"); set => Set("TipoPago", value); }
            public RfceTablaFormasPago TablaFormasPago { get => (RfceTablaFormasPago)Get("TablaFormasPago"); set => Set("TablaFormasPago", value); }
        }

        public sealed class RfceImpuestoAdicional : Request
        {
            public string TipoImpuesto { get => (string)Get("TipoImpuesto"); set => Set("TipoImpuesto", value); }
            public decimal? MontoImpuestoSelectivoConsumoEspecifico { get => (decimal?)Get("MontoImpuestoSelectivoConsumoEspecifico"); set => Set("MontoImpuestoSelectivoConsumoEspecifico", value); }
            public decimal? MontoImpuestoSelectivoConsumoAdvalorem { get => (decimal?)Get("MontoImpuestoSelectivoConsumoAdvalorem"); set => Set("MontoImpuestoSelectivoConsumoAdvalorem", value); }
            public decimal? OtrosImpuestosAdicionales { get => (decimal?)Get("OtrosImpuestosAdicionales"); set => Set("OtrosImpuestosAdicionales", value); }
        }

        public sealed class RfceImpuestosAdicionales : Request
        {
            public IReadOnlyList<RfceImpuestoAdicional> ImpuestoAdicional { get => (IReadOnlyList<RfceImpuestoAdicional>)Get("ImpuestoAdicional"); set => Set("ImpuestoAdicional", value); }
        }

        public sealed class RfcePayload : Request
        {
            public Rfce RFCE { get => (Rfce)Get("RFCE"); set => Set("RFCE", value); }
        }

        public sealed class RfceTablaFormasPago : Request
        {
            public IReadOnlyList<RfceFormaDePago> FormaDePago { get => (IReadOnlyList<RfceFormaDePago>)Get("FormaDePago"); set => Set("FormaDePago", value); }
        }

        public sealed class RfceTotales : Request
        {
            public decimal? MontoGravadoTotal { get => (decimal?)Get("MontoGravadoTotal"); set => Set("MontoGravadoTotal", value); }
            public decimal? MontoGravadoI1 { get => (decimal?)Get("MontoGravadoI1"); set => Set("MontoGravadoI1", value); }
            public decimal? MontoGravadoI2 { get => (decimal?)Get("MontoGravadoI2"); set => Set("MontoGravadoI2", value); }
            public decimal? MontoGravadoI3 { get => (decimal?)Get("MontoGravadoI3"); set => Set("MontoGravadoI3", value); }
            public decimal? MontoExento { get => (decimal?)Get("MontoExento"); set => Set("MontoExento", value); }
            public decimal? TotalITBIS { get => (decimal?)Get("TotalITBIS"); set => Set("TotalITBIS", value); }
            public decimal? TotalITBIS1 { get => (decimal?)Get("TotalITBIS1"); set => Set("TotalITBIS1", value); }
            public decimal? TotalITBIS2 { get => (decimal?)Get("TotalITBIS2"); set => Set("TotalITBIS2", value); }
            public decimal? TotalITBIS3 { get => (decimal?)Get("TotalITBIS3"); set => Set("TotalITBIS3", value); }
            public decimal? MontoImpuestoAdicional { get => (decimal?)Get("MontoImpuestoAdicional"); set => Set("MontoImpuestoAdicional", value); }
            public RfceImpuestosAdicionales ImpuestosAdicionales { get => (RfceImpuestosAdicionales)Get("ImpuestosAdicionales"); set => Set("ImpuestosAdicionales", value); }
            public decimal? MontoTotal { get => (decimal?)Get("MontoTotal"); set => Set("MontoTotal", value); }
            public decimal? MontoNoFacturable { get => (decimal?)Get("MontoNoFacturable"); set => Set("MontoNoFacturable", value); }
            public decimal? MontoPeriodo { get => (decimal?)Get("MontoPeriodo"); set => Set("MontoPeriodo", value); }
        }

        public sealed class SandboxApproval : Answer
        {
            private SandboxApproval(Json json) : base(json) { }
            public static SandboxApproval From(Json json) => Read(json, each => new SandboxApproval(each));
            public string TaxLogId => json["taxLogId"].Text;
            public string ENCF => json["eNCF"].Text;
            public string Decision => json["decision"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class SandboxApprovalRequest : Request
        {
            public string TaxLogId { get => (string)Get("taxLogId"); set => Set("taxLogId", value); }
            public string Decision { get => (string)Get("decision"); set => Set("decision", value); }
            public string Reason { get => (string)Get("reason"); set => Set("reason", value); }
        }

        public sealed class SandboxOutage : Answer
        {
            private SandboxOutage(Json json) : base(json) { }
            public static SandboxOutage From(Json json) => Read(json, each => new SandboxOutage(each));
            public string Environment => json["environment"].Text;
            public string Since => json["since"].Text;
            public string Until => json["until"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class SandboxOutageRequest : Request
        {
            public long? Seconds { get => (long?)Get("seconds"); set => Set("seconds", value); }
        }

        public sealed class SandboxReceipt : Answer
        {
            private SandboxReceipt(Json json) : base(json) { }
            public static SandboxReceipt From(Json json) => Read(json, each => new SandboxReceipt(each));
            public string ReceivedId => json["receivedId"].Text;
            public string RncEmisor => json["rncEmisor"].Text;
            public string ENCF => json["eNCF"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class SandboxReceiptRequest : Request
        {
            public string ENCF { get => (string)Get("eNCF"); set => Set("eNCF", value); }
        }

        public sealed class SequenceEvent : Answer
        {
            private SequenceEvent(Json json) : base(json) { }
            public static SequenceEvent From(Json json) => Read(json, each => new SequenceEvent(each));
            public string Event => json["event"].Text;
            public string SentAt => json["sentAt"].Text;
            public SequenceState Sequence => SequenceState.From(json["sequence"]);
        }

        public sealed class SequenceOfMonth : Answer
        {
            private SequenceOfMonth(Json json) : base(json) { }
            public static SequenceOfMonth From(Json json) => Read(json, each => new SequenceOfMonth(each));
            public string Prefix => json["prefix"].Text;
            public string Name => json["name"].Text;
            public long? Receipts => (long?)json["receipts"].Amount;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public string First => json["first"].Text;
            public string Last => json["last"].Text;
        }

        public sealed class SequenceState : Answer
        {
            private SequenceState(Json json) : base(json) { }
            public static SequenceState From(Json json) => Read(json, each => new SequenceState(each));
            public string Environment => json["environment"].Text;
            public string Prefix => json["prefix"].Text;
            public string Name => json["name"].Text;
            public string CurrentSequence => json["currentSequence"].Text;
            public string MaxSequence => json["maxSequence"].Text;
            public string Remaining => json["remaining"].Text;
            public string ExpireOn => json["expireOn"].Text;
        }

        public sealed class Sequences : Answer
        {
            private Sequences(Json json) : base(json) { }
            public static Sequences From(Json json) => Read(json, each => new Sequences(each));
            public IReadOnlyList<PrefixName> AvailableTypes => List(json["availableTypes"], PrefixName.From);
            public IReadOnlyList<NumberSequence> Items => List(json["items"], NumberSequence.From);
        }

        public sealed class ServiceHealth : Answer
        {
            private ServiceHealth(Json json) : base(json) { }
            public static ServiceHealth From(Json json) => Read(json, each => new ServiceHealth(each));
            public string Service => json["service"].Text;
            public long? Answered => (long?)json["answered"].Amount;
            public long? Failed => (long?)json["failed"].Amount;
            public long? AverageMs => (long?)json["averageMs"].Amount;
            public long? SlowestMs => (long?)json["slowestMs"].Amount;
        }

        public sealed class SharedAnswer : Answer
        {
            private SharedAnswer(Json json) : base(json) { }
            public static SharedAnswer From(Json json) => Read(json, each => new SharedAnswer(each));
            public string Url => json["url"].Text;
            public string SharedAt => json["sharedAt"].Text;
        }

        public sealed class Simulate : Request
        {
            public string Outcome { get => (string)Get("outcome"); set => Set("outcome", value); }
            public long? Code { get => (long?)Get("code"); set => Set("code", value); }
            public long? Seconds { get => (long?)Get("seconds"); set => Set("seconds", value); }
            public string Now { get => (string)Get("now"); set => Set("now", value); }
        }

        public sealed class StatusAnswer : Answer
        {
            private StatusAnswer(Json json) : base(json) { }
            public static StatusAnswer From(Json json) => Read(json, each => new StatusAnswer(each));
            public string State => json["state"].Text;
            public string MeasuredAt => json["measuredAt"].Text;
            public IReadOnlyList<PartStatus> Parts => List(json["parts"], PartStatus.From);
        }

        public sealed class Submission : Answer
        {
            private Submission(Json json) : base(json) { }
            public static Submission From(Json json) => Read(json, each => new Submission(each));
            public string TaxLogId => json["taxLogId"].Text;
            public string TrackId => json["trackId"].Text;
            public string Environment => json["environment"].Text;
            public string Status => json["status"].Text;
            public string QrCodeUrl => json["qrCodeUrl"].Text;
            public string SecurityCode => json["securityCode"].Text;
            public string NcfExpiration => json["ncfExpiration"].Text;
            public string FechaHoraFirma => json["fechaHoraFirma"].Text;
            public Json Response => json["response"];
            public string SubmittedAt => json["submittedAt"].Text;
            public string UpdatedAt => json["updatedAt"].Text;
            public string ClientRequestId => json["clientRequestId"].Text;
            public string TipoEcf => json["tipoEcf"].Text;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public decimal? TotalITBIS => json["totalITBIS"].Amount;
            public string RncComprador => json["rncComprador"].Text;
            public string RazonSocialComprador => json["razonSocialComprador"].Text;
            public string FechaEmision => json["fechaEmision"].Text;
            public bool? ReadyToPrint => Truth(json["readyToPrint"]);
            public SubmissionFacts Facts => SubmissionFacts.From(json["facts"]);
            public string ENCF => json["eNCF"].Text;
            public string NumberFate => json["numberFate"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
            public IReadOnlyList<ExplainedMessage> Explained => List(json["explained"], ExplainedMessage.From);
            public string ApprovalStatus => json["approvalStatus"].Text;
            public string ApprovalReason => json["approvalReason"].Text;
            public string ApprovalAt => json["approvalAt"].Text;
            public Handing Receiver => Handing.From(json["receiver"]);
            public Mailing Mail => Mailing.From(json["mail"]);
            public string ReplacesNcf => json["replacesNcf"].Text;
            public bool? Archived => Truth(json["archived"]);
            public Json Metadata => json["metadata"];
            public string Legend => json["legend"].Text;
        }

        public sealed class SubmissionEvent : Answer
        {
            private SubmissionEvent(Json json) : base(json) { }
            public static SubmissionEvent From(Json json) => Read(json, each => new SubmissionEvent(each));
            public string Event => json["event"].Text;
            public string SentAt => json["sentAt"].Text;
            public SubmissionSummary Submission => SubmissionSummary.From(json["submission"]);
        }

        public sealed class SubmissionFacts : Answer
        {
            private SubmissionFacts(Json json) : base(json) { }
            public static SubmissionFacts From(Json json) => Read(json, each => new SubmissionFacts(each));
            public string SignedAt => json["signedAt"].Text;
            public string SendBy => json["sendBy"].Text;
            public string ReceivedAt => json["receivedAt"].Text;
            public string VerdictAt => json["verdictAt"].Text;
            public string DeliveredAt => json["deliveredAt"].Text;
        }

        public sealed class SubmissionItem : Answer
        {
            private SubmissionItem(Json json) : base(json) { }
            public static SubmissionItem From(Json json) => Read(json, each => new SubmissionItem(each));
            public string TaxLogId => json["taxLogId"].Text;
            public string TrackId => json["trackId"].Text;
            public string Environment => json["environment"].Text;
            public string Status => json["status"].Text;
            public string QrCodeUrl => json["qrCodeUrl"].Text;
            public string SubmittedAt => json["submittedAt"].Text;
            public string UpdatedAt => json["updatedAt"].Text;
            public string ClientRequestId => json["clientRequestId"].Text;
            public string SecurityCode => json["securityCode"].Text;
            public string FechaHoraFirma => json["fechaHoraFirma"].Text;
            public string TipoEcf => json["tipoEcf"].Text;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public decimal? TotalITBIS => json["totalITBIS"].Amount;
            public string RncComprador => json["rncComprador"].Text;
            public string RazonSocialComprador => json["razonSocialComprador"].Text;
            public string FechaEmision => json["fechaEmision"].Text;
            public bool? ReadyToPrint => Truth(json["readyToPrint"]);
            public SubmissionFacts Facts => SubmissionFacts.From(json["facts"]);
            public string ENCF => json["eNCF"].Text;
            public Json Metadata => json["metadata"];
        }

        public sealed class SubmissionPage : Answer
        {
            private SubmissionPage(Json json) : base(json) { }
            public static SubmissionPage From(Json json) => Read(json, each => new SubmissionPage(each));
            public long? Page => (long?)json["page"].Amount;
            public long? Limit => (long?)json["limit"].Amount;
            public long? Total => (long?)json["total"].Amount;
            public IReadOnlyList<SubmissionItem> Items => List(json["items"], SubmissionItem.From);
            public string NextCursor => json["nextCursor"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class SubmissionStretch : Answer
        {
            private SubmissionStretch(Json json) : base(json) { }
            public static SubmissionStretch From(Json json) => Read(json, each => new SubmissionStretch(each));
            public long? Limit => (long?)json["limit"].Amount;
            public IReadOnlyList<SubmissionItem> Items => List(json["items"], SubmissionItem.From);
            public string NextCursor => json["nextCursor"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class SubmissionSummary : Answer
        {
            private SubmissionSummary(Json json) : base(json) { }
            public static SubmissionSummary From(Json json) => Read(json, each => new SubmissionSummary(each));
            public string TaxLogId => json["taxLogId"].Text;
            public string ClientRequestId => json["clientRequestId"].Text;
            public string Environment => json["environment"].Text;
            public string Status => json["status"].Text;
            public string ENCF => json["eNCF"].Text;
            public string NumberFate => json["numberFate"].Text;
            public string TrackId => json["trackId"].Text;
            public string SecurityCode => json["securityCode"].Text;
            public string QrCodeUrl => json["qrCodeUrl"].Text;
            public Json Response => json["response"];
            public string UpdatedAt => json["updatedAt"].Text;
            public string FechaHoraFirma => json["fechaHoraFirma"].Text;
            public string TipoEcf => json["tipoEcf"].Text;
            public decimal? MontoTotal => json["montoTotal"].Amount;
            public decimal? TotalITBIS => json["totalITBIS"].Amount;
            public string RncComprador => json["rncComprador"].Text;
            public string RazonSocialComprador => json["razonSocialComprador"].Text;
            public string FechaEmision => json["fechaEmision"].Text;
            public bool? ReadyToPrint => Truth(json["readyToPrint"]);
            public Json Metadata => json["metadata"];
        }

        public sealed class SubmissionXml : Answer
        {
            private SubmissionXml(Json json) : base(json) { }
            public static SubmissionXml From(Json json) => Read(json, each => new SubmissionXml(each));
            public string TaxLogId => json["taxLogId"].Text;
            public string Environment => json["environment"].Text;
            public string Status => json["status"].Text;
            public string Source => json["source"].Text;
            public string Xml => json["xml"].Text;
        }

        public sealed class TaxpayerAnswer : Answer
        {
            private TaxpayerAnswer(Json json) : base(json) { }
            public static TaxpayerAnswer From(Json json) => Read(json, each => new TaxpayerAnswer(each));
            public string Rnc => json["rnc"].Text;
            public string Name => json["name"].Text;
            public string TradeName => json["tradeName"].Text;
            public string Activity => json["activity"].Text;
            public string Status => json["status"].Text;
            public bool? Active => Truth(json["active"]);
            public string Regime => json["regime"].Text;
        }

        public sealed class Timeline : Answer
        {
            private Timeline(Json json) : base(json) { }
            public static Timeline From(Json json) => Read(json, each => new Timeline(each));
            public string TaxLogId => json["taxLogId"].Text;
            public string Environment => json["environment"].Text;
            public string Status => json["status"].Text;
            public IReadOnlyList<TimelineEvent> Events => List(json["events"], TimelineEvent.From);
        }

        public sealed class TimelineEvent : Answer
        {
            private TimelineEvent(Json json) : base(json) { }
            public static TimelineEvent From(Json json) => Read(json, each => new TimelineEvent(each));
            public long? Seq => (long?)json["seq"].Amount;
            public string At => json["at"].Text;
            public string Kind => json["kind"].Text;
            public Json Detail => json["detail"];
        }

        public sealed class Token : Answer
        {
            private Token(Json json) : base(json) { }
            public static Token From(Json json) => Read(json, each => new Token(each));
            public string AccessToken => json["accessToken"].Text;
            public string TokenType => json["tokenType"].Text;
            public long? ExpiresIn => (long?)json["expiresIn"].Amount;
            public string Environment => json["environment"].Text;
            public IReadOnlyList<string> Scopes => List(json["scopes"], each => each.Text);
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class TurnRequest : Request
        {
            public string Action { get => (string)Get("action"); set => Set("action", value); }
        }

        public sealed class UsageItem : Answer
        {
            private UsageItem(Json json) : base(json) { }
            public static UsageItem From(Json json) => Read(json, each => new UsageItem(each));
            public string Date => json["date"].Text;
            public string Environment => json["environment"].Text;
            public long? RequestsTotal => (long?)json["requestsTotal"].Amount;
            public long? RequestsSuccess => (long?)json["requestsSuccess"].Amount;
            public long? RequestsError => (long?)json["requestsError"].Amount;
            public long? EmissionsSubmitted => (long?)json["emissionsSubmitted"].Amount;
            public long? EmissionsAccepted => (long?)json["emissionsAccepted"].Amount;
            public long? EmissionsAcceptedConditional => (long?)json["emissionsAcceptedConditional"].Amount;
            public long? EmissionsRejected => (long?)json["emissionsRejected"].Amount;
            public long? EmissionsPending => (long?)json["emissionsPending"].Amount;
            public string BytesIn => json["bytesIn"].Text;
            public string BytesOut => json["bytesOut"].Text;
            public long? AvgLatencyMs => (long?)json["avgLatencyMs"].Amount;
            public long? P95LatencyMs => (long?)json["p95LatencyMs"].Amount;
        }

        public sealed class UsageReport : Answer
        {
            private UsageReport(Json json) : base(json) { }
            public static UsageReport From(Json json) => Read(json, each => new UsageReport(each));
            public string FromValue => json["from"].Text;
            public string To => json["to"].Text;
            public IReadOnlyList<UsageItem> Items => List(json["items"], UsageItem.From);
            public UsageToday Today => UsageToday.From(json["today"]);
        }

        public sealed class UsageToday : Answer
        {
            private UsageToday(Json json) : base(json) { }
            public static UsageToday From(Json json) => Read(json, each => new UsageToday(each));
            public string Date => json["date"].Text;
            public bool? IsComplete => Truth(json["isComplete"]);
            public IReadOnlyList<UsageTodayItem> Items => List(json["items"], UsageTodayItem.From);
        }

        public sealed class UsageTodayItem : Answer
        {
            private UsageTodayItem(Json json) : base(json) { }
            public static UsageTodayItem From(Json json) => Read(json, each => new UsageTodayItem(each));
            public string Environment => json["environment"].Text;
            public long? EmissionsSubmitted => (long?)json["emissionsSubmitted"].Amount;
            public long? EmissionsAccepted => (long?)json["emissionsAccepted"].Amount;
            public long? EmissionsAcceptedConditional => (long?)json["emissionsAcceptedConditional"].Amount;
            public long? EmissionsRejected => (long?)json["emissionsRejected"].Amount;
            public long? EmissionsPending => (long?)json["emissionsPending"].Amount;
        }

        public sealed class Validation : Answer
        {
            private Validation(Json json) : base(json) { }
            public static Validation From(Json json) => Read(json, each => new Validation(each));
            public bool? Valid => Truth(json["valid"]);
            public IReadOnlyList<DocumentProblem> Problems => List(json["problems"], DocumentProblem.From);
        }

        public sealed class VoidedAnswer : Answer
        {
            private VoidedAnswer(Json json) : base(json) { }
            public static VoidedAnswer From(Json json) => Read(json, each => new VoidedAnswer(each));
            public string Month => json["month"].Text;
            public string Environment => json["environment"].Text;
            public string FileName => json["fileName"].Text;
            public long? Rows => (long?)json["rows"].Amount;
            public string Content => json["content"].Text;
        }

        public sealed class VoidingAnswer : Answer
        {
            private VoidingAnswer(Json json) : base(json) { }
            public static VoidingAnswer From(Json json) => Read(json, each => new VoidingAnswer(each));
            public string VoidingId => json["voidingId"].Text;
            public string Environment => json["environment"].Text;
            public string State => json["state"].Text;
            public IReadOnlyList<NumberRangeAnswer> Ranges => List(json["ranges"], NumberRangeAnswer.From);
            public long? Numbers => (long?)json["numbers"].Amount;
            public long? Reason => (long?)json["reason"].Amount;
            public string ClientRequestId => json["clientRequestId"].Text;
            public string RequestedAt => json["requestedAt"].Text;
            public string SignedAt => json["signedAt"].Text;
            public string EndedAt => json["endedAt"].Text;
            public string Problem => json["problem"].Text;
        }

        public sealed class VoidingRequest : Request
        {
            public IReadOnlyList<AskedRange> Ranges { get => (IReadOnlyList<AskedRange>)Get("ranges"); set => Set("ranges", value); }
            public long? Reason { get => (long?)Get("reason"); set => Set("reason", value); }
            public string ClientRequestId { get => (string)Get("clientRequestId"); set => Set("clientRequestId", value); }
        }

        public sealed class VoidingsAnswer : Answer
        {
            private VoidingsAnswer(Json json) : base(json) { }
            public static VoidingsAnswer From(Json json) => Read(json, each => new VoidingsAnswer(each));
            public IReadOnlyList<VoidingAnswer> Items => List(json["items"], VoidingAnswer.From);
        }

        public sealed class Webhook : Answer
        {
            private Webhook(Json json) : base(json) { }
            public static Webhook From(Json json) => Read(json, each => new Webhook(each));
            public string Id => json["id"].Text;
            public string Environment => json["environment"].Text;
            public string Name => json["name"].Text;
            public string Url => json["url"].Text;
            public bool? Enabled => Truth(json["enabled"]);
            public IReadOnlyList<string> Events => List(json["events"], each => each.Text);
            public IReadOnlyList<string> Headers => List(json["headers"], each => each.Text);
            public string CreatedAt => json["createdAt"].Text;
            public string UpdatedAt => json["updatedAt"].Text;
            public string FailingSince => json["failingSince"].Text;
            public string DisabledAt => json["disabledAt"].Text;
            public string DisabledReason => json["disabledReason"].Text;
            public string OldSecretUntil => json["oldSecretUntil"].Text;
            public string Secret => json["secret"].Text;
            public IReadOnlyList<DocumentProblem> Warnings => List(json["warnings"], DocumentProblem.From);
        }

        public sealed class WebhookDeleted : Answer
        {
            private WebhookDeleted(Json json) : base(json) { }
            public static WebhookDeleted From(Json json) => Read(json, each => new WebhookDeleted(each));
            public bool? Ok => Truth(json["ok"]);
            public string Name => json["name"].Text;
        }

        public sealed class WebhookRequest : Request
        {
            public string Url { get => (string)Get("url"); set => Set("url", value); }
            public bool? Enabled { get => (bool?)Get("enabled"); set => Set("enabled", value); }
            public IReadOnlyList<string> Events { get => (IReadOnlyList<string>)Get("events"); set => Set("events", value); }
            public Json Headers { get => (Json)Get("headers"); set => Set("headers", value); }
        }

        public sealed class Webhooks : Answer
        {
            private Webhooks(Json json) : base(json) { }
            public static Webhooks From(Json json) => Read(json, each => new Webhooks(each));
            public IReadOnlyList<Webhook> Items => List(json["items"], Webhook.From);
        }
    }
}
