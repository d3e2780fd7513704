// Makes calls by the C# client, as driver.mjs does by the TypeScript one.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using FeClient;

public static class Driver
{
    private static TextReader input;
    private static TextWriter output;
    private static double now;

    public static void Main(string[] arguments)
    {
        input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { AutoFlush = true };
        for (Json order = Next(); !order.IsNull; order = Next())
        {
            try
            {
                object result = !order["types"].IsNull ? Typed(order["types"])
                    : !order["calls"].IsNull ? Judged(order)
                    : Called(order, arguments[0]).GetAwaiter().GetResult();
                Tell(new { result });
            }
            catch (ArgumentException refused)
            {
                Tell(new { refused = refused.Message });
            }
            catch (FeException error)
            {
                Tell(new { error = Fields(error) });
            }
        }
    }

    private static Json Next() => Json.Parse(input.ReadLine() ?? "null");

    private static void Tell(object said) => output.WriteLine(Json.Of(said));

    private static async Task<object> Called(Json order, string tokens)
    {
        now = 0;
        var options = new FeOptions
        {
            Retries = new Retries { Tries = (int)order["tries"].Amount },
            TokenCache = new FileTokenCache(Path.Combine(tokens, Guid.NewGuid().ToString("N"))),
            Sleep = Sleep, Clock = () => now, Chance = () => 0,
        };
        var fe = new Fe(order["url"].Text, "fak_0", "secret", options);
        if (!order["patience"].IsNull)
        {
            await fe.LoginAsync();
            // Which finds the token in the cache.
            options.Timeout = TimeSpan.FromSeconds((double)order["patience"].Amount);
            fe = new Fe(order["url"].Text, "fak_0", "secret", options);
        }
        Json first = order["args"][0], given = order["options"];
        string id = given["client_request_id"].Text;
        object document = (object)first.Text ?? first;
        TimeSpan? timeout = given["timeout"].IsNull ? (TimeSpan?)null : TimeSpan.FromSeconds((double)given["timeout"].Amount);
        bool? strict = given["strict"].IsNull ? (bool?)null : given["strict"].IsTrue;
        switch (order["call"].Text)
        {
            case "call": return await fe.CallAsync(first.Text, order["args"][1].Text, order["args"][2]);
            case "submit": return await fe.SubmitAsync(document, clientRequestId: id, strict: strict);
            case "submit_and_wait":
                return await fe.SubmitAndWaitAsync(document, timeout, given["until"].Text == "signed", clientRequestId: id);
            case "status": return await fe.StatusAsync(first.Text);
            case "preview": return await fe.PreviewAsync(document);
            case "pdf": return Bytes(await fe.PdfAsync(first.Text, given["layout"].Text));
            case "received_ticket": return Bytes(await fe.ReceivedTicketAsync(first.Text, qr: given["qr"].Text));
            case "batch": return await fe.BatchAsync(first);
            case "invoices": return await All(cursor => fe.InvoicesAsync(Filter(given), cursor));
            case "received": return await All(cursor => fe.ReceivedAsync(Filter(given), cursor));
            case "approve": return await fe.ApproveAsync(first.Text, id);
            case "reject": return await fe.RejectAsync(first.Text, order["args"][1].Text, id);
            case "test_webhook": return await fe.TestWebhookAsync(given["endpoint"].Text);
            case "requests": return await All(cursor => fe.RequestsAsync(Filter(given), cursor));
            case "webhook_endpoints": return await fe.WebhookEndpointsAsync();
            case "set_webhook_endpoint": return await fe.SetWebhookEndpointAsync(first.Text, order["args"][1]);
            case "delete_webhook_endpoint": return await fe.DeleteWebhookEndpointAsync(first.Text);
            default: throw new InvalidOperationException("no call " + order);
        }
    }

    private static Task Sleep(double seconds)
    {
        now += seconds;
        output.WriteLine("{\"slept\":" + seconds.ToString(System.Globalization.CultureInfo.InvariantCulture) + "}");
        input.ReadLine();
        return Task.FromResult(0);
    }

    private static Dictionary<string, Json> Filter(Json given) =>
        given.Members.ToDictionary(each => Renamed(each.Key), each => each.Value);

    private static string Renamed(string option) =>
        option.Replace("page_size", "limit").Replace("since", "from").Replace("_s", "S").Replace("_i", "I");

    private static async Task<object> All(Func<string, Task<Json>> page)
    {
        var all = new List<Json>();
        string cursor = null;
        do
        {
            Json answer = await page(cursor);
            all.AddRange(answer["items"]);
            cursor = answer["nextCursor"].Text;
        } while (cursor != null);
        return all;
    }

    private static object Bytes(byte[] content) => new { bytes = Encoding.UTF8.GetString(content) };

    private static object Fields(FeException error)
    {
        var api = error as ApiException;
        var fields = new Dictionary<string, object>
        {
            { "name", error.GetType().Name.Replace("Exception", "Error") },
            { "client_request_id", error.ClientRequestId },
            { "items", error.Items },
            { "status", api?.Status ?? (error as BrokenAnswerException)?.Status },
            { "request_id", api?.RequestId },
            { "retry_after", (int?)api?.RetryAfter },
            { "problems", api?.Problems != null && api.Problems.Count > 0 ? api.Problems : null },
        };
        return fields.Where(each => each.Value != null).ToDictionary(each => each.Key, each => each.Value);
    }

    // Members of each value as its type reads it: Json writes the public properties.
    private static List<object> Typed(Json values) => values.Select(each =>
    {
        var read = typeof(Types).GetNestedType(each[0].Text).GetMethod("From");
        return read.Invoke(null, new object[] { Json.Parse(each[1].Text) });
    }).ToList();

    private static List<bool> Judged(Json order) => order["calls"].Select(call =>
    {
        try
        {
            var headers = call["headers"].Members.ToDictionary(each => each.Key, each => each.Value.Text);
            byte[] body = Encoding.UTF8.GetBytes(call["body"].Text);
            return Webhook.Verify(order["secret"].Text, headers, body, (long)call["now"].Amount)["event"].Text != null;
        }
        catch (WebhookRefusedException)
        {
            return false;
        }
    }).ToList();
}
