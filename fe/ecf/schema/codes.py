"""The format's code lists, but for units (`units`) and places (`geography`), from the XSDs (authority.md#formats)."""

from fe.ecf.schema.model import Code

ECF_TYPES = (
    Code("31", "credit fiscal invoice", "factura de crédito fiscal"),
    Code("32", "consumer invoice", "factura de consumo"),
    Code("33", "debit note", "nota de débito"),
    Code("34", "credit note", "nota de crédito"),
    Code("41", "purchases", "compras"),
    Code("43", "minor expenses", "gastos menores"),
    Code("44", "special regimes", "regímenes especiales"),
    Code("45", "government", "gubernamental"),
    Code("46", "exports", "exportaciones"),
    Code("47", "payments abroad", "pagos al exterior"),
)
CONSUMER_ONLY = ECF_TYPES[1:2]

VERSION_1 = (Code("1.0", "version 1.0", "versión 1.0"),)
YES = (Code("1", "yes", "sí"),)

CREDIT_NOTE_AGES = (
    Code("0", "the modified e-CF is at most 30 days old", "el e-CF modificado tiene 30 días o menos"),
    Code("1", "the modified e-CF is older than 30 days", "el e-CF modificado tiene más de 30 días"),
)
TAX_INCLUDED = (
    Code("0", "ITBIS is not in the amounts of the lines", "los montos de las líneas no incluyen ITBIS"),
    Code("1", "ITBIS is in the amounts of the lines", "los montos de las líneas incluyen ITBIS"),
)
INCOME_TYPES = (
    Code("01", "operations (not financial)", "ingresos por operaciones (no financieros)"),
    Code("02", "financial", "ingresos financieros"),
    Code("03", "extraordinary", "ingresos extraordinarios"),
    Code("04", "leases", "ingresos por arrendamientos"),
    Code("05", "sale of a depreciable asset", "ingresos por venta de activo depreciable"),
    Code("06", "other", "otros ingresos"),
)
PAYMENT_TYPES = (
    Code("1", "cash", "contado"),
    Code("2", "credit", "crédito"),
    Code("3", "free of charge", "gratuito"),
)
PAYMENT_FORMS = (
    Code("1", "cash", "efectivo"),
    Code("2", "cheque, transfer or deposit", "cheque, transferencia o depósito"),
    Code("3", "debit or credit card", "tarjeta de débito o crédito"),
    Code("4", "sale on credit", "venta a crédito"),
    Code("5", "vouchers or gift certificates", "bonos o certificados de regalo"),
    Code("6", "barter", "permuta"),
    Code("7", "credit note", "nota de crédito"),
    Code("8", "other", "otras formas de pago"),
)
ACCOUNT_TYPES = (
    Code("CT", "current account", "cuenta corriente"),
    Code("AH", "savings account", "cuenta de ahorro"),
    Code("OT", "other", "otra"),
)
BILLING_INDICATORS = (
    Code("0", "not billable", "no facturable"),
    Code("1", "ITBIS 18%", "ITBIS 18%"),
    Code("2", "ITBIS 16%", "ITBIS 16%"),
    Code("3", "ITBIS 0%", "ITBIS 0%"),
    Code("4", "exempt", "exento"),
)
#: Those a discount or surcharge on the whole document may bear, and those a structured payload may bear in its items.
BILLABLE_INDICATORS = BILLING_INDICATORS[1:]

GOODS_OR_SERVICE = (
    Code("1", "goods", "bien"),
    Code("2", "service", "servicio"),
)
AMOUNT_OR_PERCENT = (
    Code("$", "an amount", "monto"),
    Code("%", "a percentage", "porcentaje"),
)
ADJUSTMENTS = (
    Code("D", "discount", "descuento"),
    Code("R", "surcharge", "recargo"),
)
RULE_10_07 = (
    Code("0", "rule 10-07 does not apply", "no aplica la norma 10-07"),
    Code("1", "discount under rule 10-07", "descuento de la norma 10-07"),
)
WITHHOLDING_AGENTS = (
    Code("1", "withholding", "retención"),
    Code("2", "perception", "percepción"),
)
MODIFICATIONS = (
    Code("1", "cancels the modified NCF", "anula el NCF modificado"),
    Code("2", "corrects its text", "corrige texto del comprobante modificado"),
    Code("3", "corrects its amounts", "corrige montos del NCF modificado"),
    Code("4", "replaces an NCF issued in contingency", "reemplaza un NCF emitido en contingencia"),
    Code("5", "references a consumer invoice", "referencia una factura de consumo electrónica"),
)
AFFILIATIONS = (
    Code("1", "affiliated", "afiliada"),
    Code("2", "not affiliated", "no afiliada"),
)
SETTLEMENTS = (
    Code("1", "provisional", "provisional"),
    Code("2", "final", "final"),
)
TRANSPORT_WAYS = (
    Code("01", "by land", "terrestre"),
    Code("02", "by sea", "marítima"),
    Code("03", "by air", "aérea"),
)
#: As the authority spells them: `CHY` and `SCP` are not the ISO codes of their currencies.
CURRENCIES = (
    Code("BRL", "Brazilian real", "real brasileño"),
    Code("CAD", "Canadian dollar", "dólar canadiense"),
    Code("CHF", "Swiss franc", "franco suizo"),
    Code("CHY", "Chinese yuan", "yuan chino"),
    Code("XDR", "special drawing right", "derecho especial de giro"),
    Code("DKK", "Danish krone", "corona danesa"),
    Code("EUR", "euro", "euro"),
    Code("GBP", "pound sterling", "libra esterlina"),
    Code("JPY", "Japanese yen", "yen japonés"),
    Code("NOK", "Norwegian krone", "corona noruega"),
    Code("SCP", "Scottish pound", "libra escocesa"),
    Code("SEK", "Swedish krona", "corona sueca"),
    Code("USD", "United States dollar", "dólar estadounidense"),
    Code("VEF", "Venezuelan bolívar", "bolívar venezolano"),
    Code("HTG", "Haitian gourde", "gourde haitiana"),
    Code("MXN", "Mexican peso", "peso mexicano"),
    Code("COP", "Colombian peso", "peso colombiano"),
)
#: 001-005 other taxes, 006-022 selective by quantity ("específico"), 023-039 selective by price ("ad valorem").
ADDITIONAL_TAXES = (
    Code("001", "legal tip", "propina legal"),
    Code("002", "telecommunications development contribution", "contribución al desarrollo de las telecomunicaciones"),
    Code("003", "insurance services", "servicios de seguros"),
    Code("004", "telecommunications services", "servicios de telecomunicaciones"),
    Code("005", "first number plate", "expedición de la primera placa"),
    Code("006", "beer, by quantity", "cerveza, específico"),
    Code("007", "grape wines, by quantity", "vinos de uva, específico"),
    Code("008", "vermouth and the like, by quantity", "vermut y demás vinos de uvas frescas, específico"),
    Code("009", "other fermented drinks, by quantity", "demás bebidas fermentadas, específico"),
    Code("010", "ethyl alcohol of 80% and more, by quantity", "alcohol etílico de 80% o más, específico"),
    Code("011", "ethyl alcohol below 80%, by quantity", "alcohol etílico inferior a 80%, específico"),
    Code("012", "grape spirits, by quantity", "aguardientes de uva, específico"),
    Code("013", "whisky, by quantity", "whisky, específico"),
    Code("014", "rum and cane spirits, by quantity", "ron y demás aguardientes de caña, específico"),
    Code("015", "gin, by quantity", "gin y ginebra, específico"),
    Code("016", "vodka, by quantity", "vodka, específico"),
    Code("017", "liqueurs, by quantity", "licores, específico"),
    Code("018", "other drinks and alcohols, by quantity", "las demás bebidas y alcoholes, específico"),
    Code("019", "tobacco cigarettes in 20s, by quantity", "cigarrillos de tabaco, cajetilla de 20, específico"),
    Code("020", "other cigarettes in 20s, by quantity", "los demás cigarrillos de 20, específico"),
    Code("021", "tobacco cigarettes in 10s, by quantity", "cigarrillos de 10, específico"),
    Code("022", "other cigarettes in 10s, by quantity", "los demás cigarrillos de 10, específico"),
    Code("023", "beer, by price", "cerveza, ad valorem"),
    Code("024", "grape wines, by price", "vinos de uva, ad valorem"),
    Code("025", "vermouth and the like, by price", "vermut y demás vinos de uvas frescas, ad valorem"),
    Code("026", "other fermented drinks, by price", "demás bebidas fermentadas, ad valorem"),
    Code("027", "ethyl alcohol of 80% and more, by price", "alcohol etílico de 80% o más, ad valorem"),
    Code("028", "ethyl alcohol below 80%, by price", "alcohol etílico inferior a 80%, ad valorem"),
    Code("029", "grape spirits, by price", "aguardientes de uva, ad valorem"),
    Code("030", "whisky, by price", "whisky, ad valorem"),
    Code("031", "rum and cane spirits, by price", "ron y demás aguardientes de caña, ad valorem"),
    Code("032", "gin, by price", "gin y ginebra, ad valorem"),
    Code("033", "vodka, by price", "vodka, ad valorem"),
    Code("034", "liqueurs, by price", "licores, ad valorem"),
    Code("035", "other drinks and alcohols, by price", "las demás bebidas y alcoholes, ad valorem"),
    Code("036", "tobacco cigarettes in 20s, by price", "cigarrillos de tabaco, cajetilla de 20, ad valorem"),
    Code("037", "other cigarettes in 20s, by price", "los demás cigarrillos de 20, ad valorem"),
    Code("038", "tobacco cigarettes in 10s, by price", "cigarrillos de 10, ad valorem"),
    Code("039", "other cigarettes in 10s, by price", "los demás cigarrillos de 10, ad valorem"),
)
APPROVALS = (
    Code("1", "accepted", "aceptado"),
    Code("2", "rejected", "rechazado"),
)
RECEIPTS = (
    Code("0", "received", "e-CF recibido"),
    Code("1", "not received", "e-CF no recibido"),
)
REASONS_NOT_RECEIVED = (
    Code("1", "error of specification", "error de especificación"),
    Code("2", "error of the digital signature", "error de firma digital"),
    Code("3", "sent twice", "envío duplicado"),
    Code("4", "not this buyer's tax id", "RNC comprador no corresponde"),
)
