<?php

declare(strict_types=1);

namespace FeClient;

/** @internal Made from the service's description by `python -m clients.generate`: changes belong there. */
final class Members
{
    public const ITEM = ['format', 'payload', 'clientRequestId', 'asUser', 'asUserId', 'keepSignature', 'strict', 'simulate', 'sequence', 'notify', 'metadata', 'xml'];
    public const SIMULATE = ['outcome', 'code', 'seconds', 'now'];
    public const WEBHOOK = ['url', 'enabled', 'events', 'headers'];
}
