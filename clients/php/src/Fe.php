<?php

declare(strict_types=1);

namespace FeClient;

/**
 * The service, for one API key. Requests and answers are arrays with the names of the service's description, for which
 * FeClient\Types has classes; amounts are texts such as "118.50", in both directions. Options are named arguments, and
 * PHP refuses one that does not exist.
 *
 * ```php
 * $fe = new Fe('https://fe.example.com', 'fak_0123456789ab', '...');
 * echo $fe->submitAndWait($receipt, clientRequestId: 'order-1001')['status'];
 * ```
 *
 * Every call throws a FeError: see Errors.php.
 */
final class Fe
{
    private const FINAL_STATUSES = ['Aceptado', 'Aceptado Condicional', 'Rechazado', 'error'];
    /** Most receipts and bytes of one request; the service's own limit of bytes is 1 MiB. */
    private const BATCH_ITEMS = 500;
    private const BATCH_BYTES = 1_000_000;
    /** Ids of one request of `decide`. */
    private const DECIDED = 100;
    private const LONGEST_WAIT = 30;
    private const ASK_AGAIN = 5.0;

    private readonly Session $session;

    /**
     * Take where the service is and a key of it; nothing is sent yet.
     *
     * @param string $baseUrl ends with /api/v1/fe; of a bare host that is added
     * @param float $timeout seconds after which a call without an answer has failed
     * @param string|null $language what messages come in: `es`, `en`
     * @param bool $strict the service refuses at once a receipt that would not be sent; false: it ends as `error`
     * @param object|null $cache keeps the token for other processes: a FileCache, which is usual, or a cache of yours
     *     with `get` and `set` of PSR-16. A key may log in five times a minute.
     * @param \Closure|null $sleep pauses for so many seconds; this and the last two are for tests
     */
    public function __construct(
        string $baseUrl,
        string $keyId,
        #[\SensitiveParameter] string $secret,
        float $timeout = 30.0,
        ?Retries $retries = null,
        ?string $language = null,
        private readonly bool $strict = true,
        ?object $cache = null,
        ?\Closure $sleep = null,
        ?\Closure $clock = null,
        ?\Closure $chance = null,
    ) {
        $this->session = new Session(
            $baseUrl,
            $keyId,
            $secret,
            $timeout,
            $retries ?? new Retries(),
            $language,
            $cache ?? new FileCache(),
            $sleep ?? fn (float $seconds) => usleep((int) ($seconds * 1_000_000)),
            $clock ?? fn (): float => hrtime(true) / 1e9,
            $chance ?? fn (): float => random_int(0, 1000) / 1000,
        );
    }

    /** Get a new token now. Every other call gets one by itself, and renews it; this tells whether the key is good. */
    public function login(): array
    {
        return $this->session->login();
    }

    /** Call anything that has no method here, such as `call('PUT', '/printing', body: [...])`. */
    public function call(
        string $method,
        string $path,
        array $query = [],
        array|Types\Request|null $body = null,
        bool $isRepeatable = false,
    ): array {
        $body = $body === null ? null : self::plain($body);
        return $this->session->call($method, $path, $query, $body, $isRepeatable || $method === 'GET');
    }

    /**
     * Submit a receipt. It is stored once, also when the call is repeated after a lost answer; its verdict comes later.
     *
     * `$document` is the payload of a structured one, or finished XML as a text. With a `$clientRequestId` of your own
     * (your order's number) you may repeat the call yourself, tomorrow or in another process, without issuing twice;
     * without one the client makes one for this call, and errors carry it. `$simulate` asks a sandbox for an outcome.
     * `$notify` is the address that the accepted receipt is mailed to. `$sequence` is the name of the sequence that
     * gives the number, where you have several of a type. `$metadata` are your own labels by name, which come back with
     * the submission, and which `invoices` filters by.
     *
     * Throws InvalidError with `problems`, ReusedIdError, and what every call may throw.
     */
    public function submit(
        array|string|Types\Request $document,
        ?string $clientRequestId = null,
        ?string $asUser = null,
        ?string $asUserId = null,
        ?bool $strict = null,
        ?array $simulate = null,
        ?string $notify = null,
        ?string $sequence = null,
        ?array $metadata = null,
    ): array {
        $id = $clientRequestId ?? self::newId();
        $strict ??= $this->strict;
        $more = compact('asUser', 'asUserId', 'strict', 'simulate', 'notify', 'sequence');
        $body = self::handedIn($document, $more) + ['clientRequestId' => $id];
        $body += $metadata === null ? [] : ['metadata' => (object) $metadata];
        $taken = $this->session->call('POST', '/invoices', body: $body, requestId: $id);
        if (($taken['bodyMatched'] ?? null) === false) {
            $reused = new ReusedIdError($taken);
            $reused->clientRequestId = $id;
            throw $reused;
        }
        return $taken;
    }

    /**
     * Submit a receipt as `submit` does, and wait for its verdict: `status` says what it was, `Rechazado` included.
     *
     * `$until: 'signed'` waits for the signature alone: then the receipt can be printed. Throws NoVerdictYetError after
     * `$timeout` seconds. Then it is still on its way: go on with `wait`, or call this again with the same id.
     */
    public function submitAndWait(
        array|string|Types\Request $document,
        float $timeout = 180.0,
        string $until = 'verdict',
        ?string $clientRequestId = null,
        ?string $asUser = null,
        ?string $asUserId = null,
        ?bool $strict = null,
        ?array $simulate = null,
        ?string $notify = null,
        ?string $sequence = null,
        ?array $metadata = null,
    ): array {
        $id = $clientRequestId ?? self::newId();
        $ends = ($this->session->clock)() + $timeout;
        $taken = $this->submit($document, $id, $asUser, $asUserId, $strict, $simulate, $notify, $sequence, $metadata);
        try {
            return $this->wait($taken['taxLogId'], $ends - ($this->session->clock)(), $until);
        } catch (FeError $error) {
            $error->clientRequestId = $id;
            throw $error;
        }
    }

    /**
     * Wait until a submission has its verdict, or its signature. Troubles on the way are borne until `$timeout`.
     *
     * Throws NotThereError where nothing of yours has that id, NoVerdictYetError after `$timeout` seconds, or the
     * trouble that lasted until then.
     */
    public function wait(string $trackOrId, float $timeout = 180.0, string $until = 'verdict'): array
    {
        $clock = $this->session->clock;
        $ends = $clock() + $timeout;
        while (true) {
            $began = $clock();
            $asked = max(0, min(self::LONGEST_WAIT, (int) ($ends - $began)));
            try {
                $query = ['wait' => $asked, 'until' => self::until($until)];
                [$seen, $headers] = $this->session->exchange('GET', self::one($trackOrId), $query, wait: $asked);
                if (self::found($seen) === null) {
                    throw new NotThereError(200, "nothing of yours has the id $trackOrId");
                }
                $isSigned = $until === 'signed' && ($seen['readyToPrint'] ?? false);
                if ($isSigned || in_array($seen['status'], self::FINAL_STATUSES, true)) {
                    return $seen;
                }
                $trouble = new NoVerdictYetError($seen);
                $again = Http::retryAfter($headers);
            } catch (ServerAwayError | AnswerLostError | ThrottledError | UnavailableError $error) {
                $trouble = $error;
                $again = $error instanceof ApiError ? $error->retryAfter : null;
            }
            $left = $ends - $clock();
            if ($left <= 0) {
                throw $trouble;
            }
            // After a whole wait ask again at once; after an early answer wait as the answer says.
            if (!($trouble instanceof NoVerdictYetError) || $asked <= 0 || $clock() - $began < $asked) {
                $this->session->sleep(min($left, $again ?? self::ASK_AGAIN));
            }
        }
    }

    /** Ask how it stands with a submission, for up to `$wait` seconds (30 at most); null: nothing has that id. */
    public function status(string $trackOrId, int $wait = 0, string $until = 'verdict'): ?array
    {
        $query = ['wait' => $wait ?: null, 'until' => self::until($until)];
        return self::found($this->session->call('GET', self::one($trackOrId), $query, wait: $wait));
    }

    /** Fetch the document of a submission: once signed, the legal proof. Null: nothing of yours has that id. */
    public function xml(string $trackOrId): ?array
    {
        return self::found($this->session->call('GET', self::one($trackOrId) . '/xml'));
    }

    /** Read every event of a submission, oldest first. Null: nothing of yours has that id. */
    public function timeline(string $trackOrId): ?array
    {
        return self::found($this->session->call('GET', self::one($trackOrId) . '/timeline'));
    }

    /** Print a receipt as PDF. Throws NotThereError, and ConflictError while it is not signed. */
    public function pdf(string $trackOrId, ?string $layout = null, ?string $language = null): string
    {
        return $this->fetch(self::one($trackOrId) . '/pdf', 'application/pdf', compact('layout', 'language'));
    }

    /** Print a receipt as bytes for a receipt printer (ESC/POS). Throws as `pdf` does. */
    public function ticket(
        string $trackOrId,
        ?string $layout = null,
        ?string $language = null,
        ?string $qr = null,
    ): string {
        $query = compact('layout', 'language', 'qr');
        return $this->fetch(self::one($trackOrId) . '/ticket', 'application/octet-stream', $query);
    }

    /** Draw a receipt's QR code as PNG. Throws as `pdf` does. */
    public function qrPng(string $trackOrId): string
    {
        return $this->fetch(self::one($trackOrId) . '/qr.png', 'image/png');
    }

    /** Draw a receipt's QR code as SVG. Throws as `pdf` does. */
    public function qrSvg(string $trackOrId): string
    {
        return $this->fetch(self::one($trackOrId) . '/qr.svg', 'image/svg+xml');
    }

    /** List all problems of a receipt, without submitting it. */
    public function validate(
        array|string|Types\Request $document,
        ?string $asUser = null,
        ?string $asUserId = null,
        ?array $simulate = null,
        ?string $sequence = null,
    ): array {
        $body = self::handedIn($document, compact('asUser', 'asUserId', 'simulate', 'sequence'));
        return $this->session->call('POST', '/invoices/validate', body: $body);
    }

    /** Show a receipt as it would be signed now: number, totals, defaults and problems. No number is drawn. */
    public function preview(
        array|string|Types\Request $document,
        ?string $asUser = null,
        ?string $asUserId = null,
        ?array $simulate = null,
        ?string $sequence = null,
    ): array {
        $body = self::handedIn($document, compact('asUser', 'asUserId', 'simulate', 'sequence'));
        return $this->session->call('POST', '/invoices/preview', body: $body);
    }

    /**
     * Submit many receipts; the result has, in their order, the answer that `submit` would have given for each.
     *
     * Each has `format` and `payload` or `xml`, and best a `clientRequestId` of yours; the client adds one if there is
     * none. More than 500, or more than one request can hold, go in several requests; an error then carries the results
     * before it as `items`.
     *
     * @param iterable<array<string, mixed>|Types\Request> $items
     * @return list<array<string, mixed>>
     */
    public function batch(iterable $items, ?bool $strict = null): array
    {
        $strict ??= $this->strict;
        $parts = [];
        $size = self::BATCH_BYTES;
        foreach ($items as $item) {
            $item = self::plain($item);
            self::refuseUnknown('batch', $item, Members::ITEM);
            $item['clientRequestId'] ??= self::newId();
            $length = strlen(Json::write($item)) + 1;
            if ($size + $length > self::BATCH_BYTES || count(end($parts) ?: []) === self::BATCH_ITEMS) {
                $parts[] = [];
                $size = 0;
            }
            $parts[array_key_last($parts)][] = $item;
            $size += $length;
        }
        $bodies = array_map(fn (array $part): array => ['items' => $part, 'strict' => $strict], $parts);
        return $this->inParts('/invoices/batch', $bodies);
    }

    /**
     * Go through your submissions, newest first, fetching as it goes.
     *
     * `$since` and `$until` are dates (their start and end in UTC) or timestamps of submission; `$rnc` is the buyer's.
     * `$metadata` is one label with its value; it needs a period of at most 93 days, as `$numberFate` does.
     *
     * @return \Generator<int, array<string, mixed>>
     */
    public function invoices(
        string|\DateTimeInterface|null $since = null,
        string|\DateTimeInterface|null $until = null,
        ?string $state = null,
        ?string $encf = null,
        ?string $clientRequestId = null,
        ?string $rnc = null,
        ?string $asUser = null,
        ?string $tipoEcf = null,
        ?string $issuedFrom = null,
        ?string $issuedTo = null,
        ?string $totalFrom = null,
        ?string $totalTo = null,
        ?string $text = null,
        int $pageSize = 200,
        array $metadata = [],
        ?string $numberFate = null,
    ): \Generator {
        $query = ['from' => $since, 'to' => $until, 'limit' => $pageSize];
        $query += compact('state', 'encf', 'clientRequestId', 'rnc', 'asUser', 'numberFate');
        $query += compact('tipoEcf', 'issuedFrom', 'issuedTo', 'totalFrom', 'totalTo', 'text');
        foreach ($metadata as $name => $value) {
            $query["metadata[$name]"] = $value;
        }
        return $this->pages('/invoices', $query);
    }

    /**
     * Go through what suppliers issued to you, newest first; `$rnc` is the supplier's.
     *
     * @return \Generator<int, array<string, mixed>>
     */
    public function received(
        string|\DateTimeInterface|null $since = null,
        string|\DateTimeInterface|null $until = null,
        ?string $encf = null,
        ?string $rnc = null,
        ?string $approvalStatus = null,
        ?string $tipoEcf = null,
        ?string $issuedFrom = null,
        ?string $issuedTo = null,
        ?string $totalFrom = null,
        ?string $totalTo = null,
        ?string $text = null,
        int $pageSize = 200,
    ): \Generator {
        $query = ['from' => $since, 'to' => $until, 'limit' => $pageSize];
        $query += compact('encf', 'rnc', 'approvalStatus');
        $query += compact('tipoEcf', 'issuedFrom', 'issuedTo', 'totalFrom', 'totalTo', 'text');
        return $this->pages('/received', $query);
    }

    /** Show a document that a supplier issued to you. Null: there is none with that id. */
    public function receivedDocument(string $receivedId): ?array
    {
        return self::found($this->session->call('GET', self::supplied($receivedId)));
    }

    /** Fetch it byte for byte, and the acknowledgement that was given for it. Null: there is none with that id. */
    public function receivedXml(string $receivedId): ?array
    {
        return self::found($this->session->call('GET', self::supplied($receivedId) . '/xml'));
    }

    /** Print a document that a supplier issued to you as PDF. Throws NotThereError. */
    public function receivedPdf(string $receivedId, ?string $layout = null, ?string $language = null): string
    {
        return $this->fetch(self::supplied($receivedId) . '/pdf', 'application/pdf', compact('layout', 'language'));
    }

    /** Print it as bytes for a receipt printer (ESC/POS). Throws NotThereError. */
    public function receivedTicket(
        string $receivedId,
        ?string $layout = null,
        ?string $language = null,
        ?string $qr = null,
    ): string {
        $query = compact('layout', 'language', 'qr');
        return $this->fetch(self::supplied($receivedId) . '/ticket', 'application/octet-stream', $query);
    }

    /** Draw its QR code as PNG. Throws NotThereError. */
    public function receivedQrPng(string $receivedId): string
    {
        return $this->fetch(self::supplied($receivedId) . '/qr.png', 'image/png');
    }

    /** Draw its QR code as SVG. Throws NotThereError. */
    public function receivedQrSvg(string $receivedId): string
    {
        return $this->fetch(self::supplied($receivedId) . '/qr.svg', 'image/svg+xml');
    }

    /** Approve a received document. Throws NotThereError, and ConflictError where the contrary was said before. */
    public function approve(
        string $receivedId,
        ?string $clientRequestId = null,
        ?string $asUser = null,
        ?string $asUserId = null,
    ): array {
        return $this->decided("$receivedId", 'approve', compact('clientRequestId', 'asUser', 'asUserId'));
    }

    /** Reject a received document, for a reason that its issuer and the authority read. Throws as `approve` does. */
    public function reject(
        string $receivedId,
        string $reason,
        ?string $clientRequestId = null,
        ?string $asUser = null,
        ?string $asUserId = null,
    ): array {
        return $this->decided($receivedId, 'reject', compact('reason', 'clientRequestId', 'asUser', 'asUserId'));
    }

    /**
     * Approve or reject (`approved`, `rejected`) many received documents; a rejection has a reason. Repeating it is safe.
     *
     * Each is decided by itself: `statusCode` says what became of it. An error carries the results before it as `items`.
     *
     * @param list<string> $ids
     * @return list<array<string, mixed>>
     */
    public function decide(
        string $decision,
        array $ids,
        ?string $reason = null,
        ?string $asUser = null,
        ?string $asUserId = null,
    ): array {
        $more = self::withoutNull(compact('reason', 'asUser', 'asUserId'));
        $parts = array_chunk($ids, self::DECIDED);
        $bodies = array_map(fn (array $part): array => ['decision' => $decision, 'ids' => $part] + $more, $parts);
        return $this->inParts('/received/approvals', $bodies);
    }

    /** List the number sequences that are configured, and the types there are. */
    public function ncf(): array
    {
        return $this->session->call('GET', '/ncf');
    }

    /** Show what was used on each of the last days; `$today` adds the day that is not over. */
    public function usage(?int $days = null, ?bool $today = null): array
    {
        return $this->session->call('GET', '/usage', compact('days', 'today'));
    }

    /**
     * Go through your failed requests of the last 30 days, newest first; `$status` is 400, '4xx' or '5xx'.
     *
     * @return \Generator<int, array<string, mixed>>
     */
    public function requests(
        string|\DateTimeInterface|null $since = null,
        string|\DateTimeInterface|null $until = null,
        ?string $key = null,
        int|string|null $status = null,
        ?string $requestId = null,
        int $pageSize = 200,
    ): \Generator {
        $query = ['from' => $since, 'to' => $until, 'limit' => $pageSize];
        return $this->pages('/requests', $query + compact('key', 'status', 'requestId'));
    }

    /**
     * List every webhook endpoint of the environment, the one named `default` included.
     *
     * @return list<array<string, mixed>>
     */
    public function webhookEndpoints(): array
    {
        return $this->session->call('GET', '/webhooks/endpoints')['items'];
    }

    /**
     * Set one of several endpoints, by its name: `url`, `enabled`, `events`, `headers`. The first answer has its `secret`,
     * which is shown only then.
     */
    public function setWebhookEndpoint(string $name, array $webhook): array
    {
        self::refuseUnknown('setWebhookEndpoint', $webhook, Members::WEBHOOK);
        return $this->session->call('PUT', self::endpoint($name), body: $webhook);
    }

    /** Delete an endpoint: what it was not delivered ends as failed. Throws NotThereError. */
    public function deleteWebhookEndpoint(string $name): array
    {
        return $this->session->call('DELETE', self::endpoint($name));
    }

    /** Have the webhook, or one of several endpoints, called now with an event `test`. It is not repeated by itself. */
    public function testWebhook(?string $endpoint = null): array
    {
        $path = $endpoint === null ? '/webhooks' : self::endpoint($endpoint);
        return $this->session->call('POST', "$path/test", isRepeatable: false);
    }

    private function decided(string $receivedId, string $verb, array $body): array
    {
        $body['clientRequestId'] ??= self::newId();
        $path = self::supplied($receivedId) . "/$verb";
        $said = self::withoutNull($body);
        return $this->session->call('POST', $path, body: $said, requestId: $body['clientRequestId']);
    }

    private function fetch(string $path, string $mediaType, array $query = []): string
    {
        return $this->session->call('GET', $path, $query, mediaType: $mediaType);
    }

    private function pages(string $path, array $query): \Generator
    {
        $cursor = null;
        do {
            $page = $this->session->call('GET', $path, $query + compact('cursor'));
            foreach ($page['items'] as $item) {
                yield $item;
            }
            $cursor = $page['nextCursor'];
        } while ($cursor !== null);
    }

    /** Send bodies one after the other, and join the items of their answers. */
    private function inParts(string $path, array $bodies): array
    {
        $answered = [];
        foreach ($bodies as $body) {
            try {
                array_push($answered, ...$this->session->call('POST', $path, body: $body)['items']);
            } catch (FeError $error) {
                $error->items = $answered;
                throw $error;
            }
        }
        return $answered;
    }

    private static function handedIn(array|string|Types\Request $document, array $more): array
    {
        $form = is_string($document)
            ? ['format' => 'xml', 'xml' => $document]
            : ['format' => 'structured', 'payload' => self::plain($document)];
        if (isset($more['simulate'])) {
            self::refuseUnknown('simulate', $more['simulate'], Members::SIMULATE);
        }
        return $form + self::withoutNull($more);
    }

    private static function plain(array|Types\Request $given): array
    {
        return is_array($given) ? $given : $given->toArray();
    }

    /** Refuse members that a body does not have: the service would ignore them. */
    private static function refuseUnknown(string $what, array $given, array $members): void
    {
        $letters = fn (string $name): string => strtolower(str_replace(['_', '-'], '', $name));
        foreach (array_diff(array_map('strval', array_keys($given)), $members) as $name) {
            $near = array_filter($members, fn (string $member): bool => $letters($member) === $letters($name));
            $meant = $near ? 'did you mean ' . reset($near) . '?' : 'there are ' . implode(', ', $members);
            throw new \InvalidArgumentException("$what: there is no $name; $meant");
        }
    }

    private static function until(string $until): ?string
    {
        return match ($until) {
            'verdict' => null,
            'signed' => $until,
            default => throw new \InvalidArgumentException("until must be verdict or signed, and not $until"),
        };
    }

    private static function withoutNull(array $values): array
    {
        return array_filter($values, fn (mixed $value): bool => $value !== null);
    }

    private static function found(array $answer): ?array
    {
        return ($answer['found'] ?? null) === false ? null : $answer;
    }

    private static function one(string $trackOrId): string
    {
        return '/invoices/' . rawurlencode($trackOrId);
    }

    private static function supplied(string $receivedId): string
    {
        return '/received/' . rawurlencode($receivedId);
    }

    private static function endpoint(string $name): string
    {
        return '/webhooks/endpoints/' . rawurlencode($name);
    }

    /** A random UUID. */
    private static function newId(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0F | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3F | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}
