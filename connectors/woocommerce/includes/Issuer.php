<?php

declare(strict_types=1);

namespace FeEcf;

use FeClient\{ApiError, ConflictError, Fe, FeError, ForbiddenError, InvalidError, ReusedIdError, WrongCredentialsError};

/** Issues an order or a refund, and follows it to its verdict. May be repeated at any point: nothing is issued twice. */
final class Issuer
{
    private const WAIT = 5;
    private const LONGEST_PAUSE = 3600;
    private const UNPAID = ['pending', 'on-hold', 'failed', 'cancelled', 'checkout-draft', 'trash'];

    public function __construct(private readonly Settings $settings)
    {
    }

    /** Do what there is to do for an order or refund; schedule what is left. */
    public function run(int $id): void
    {
        $order = wc_get_order($id);
        if (!$order instanceof \WC_Abstract_Order || !$this->settings->isComplete()) {
            return;
        }
        $state = State::of($order);
        if (!$state->isOpen()) {
            return;
        }
        try {
            $this->advance($state, $this->settings->client());
        } catch (Unfit | InvalidError | ReusedIdError | \InvalidArgumentException $error) {
            $this->refuse($state, $error);
        } catch (FeError $error) {
            $this->later($state, $error);
        }
    }

    /** Start again after a rejection or a refusal: with a new id where a receipt was made under the old one. */
    public function again(State $state): void
    {
        if (!$state->isKnown() || $state->isOpen() || $state->isAccepted()) {
            return;
        }
        // Under an id that took a receipt in, that receipt would come back.
        $mustRenew = $state->get('track') !== null || $state->get('reused');
        $changes = $mustRenew ? ['again' => true] : ['sent' => null];
        $state->save($changes + ['said' => null, 'skipped' => null, 'tries' => 0], isOpen: true);
        Jobs::schedule($state->order->get_id());
    }

    /** Look again at a receipt of which a webhook says something new. */
    public function reopen(State $state): void
    {
        $state->save(['status' => null], isOpen: true);
    }

    private function advance(State $state, Fe $fe): void
    {
        if ($state->get('again')) {
            $this->renew($state, $fe);
        }
        if ($state->get('track') === null) {
            $call = $this->frozen($state);
            if ($call === null) {
                return;
            }
            $taken = $fe->submit(...$call);
            $state->save(['track' => $taken['taxLogId']]);
        }
        $this->take($state, $this->seen($state, $fe), $fe);
    }

    /** @return array<string, mixed> */
    private function seen(State $state, Fe $fe): array
    {
        $track = $state->text('track');
        return $fe->status($track, wait: self::WAIT)
            ?? throw new FeError(sprintf(__('The service has no receipt %s under this key.', 'fe-ecf-woocommerce'), $track));
    }

    /** Fix what is to be sent before it is sent for the first time: every repetition sends the same. */
    private function frozen(State $state): ?array
    {
        if (is_array($state->get('sent'))) {
            return $state->get('sent');
        }
        $order = $state->order;
        $shown = $state->shown();
        if ($shown === null) {
            $state->save(['skipped' => true], isOpen: false); // the order was deleted, and its refund stayed
            return null;
        }
        if ($order instanceof \WC_Order) {
            if (in_array($order->get_status(), self::UNPAID, true) || Decimal::of($order->get_total())->sign() <= 0) {
                $state->save(['skipped' => true], isOpen: false);
                $state->note(__('No e-CF was issued: the order is not paid, or its total is zero.', 'fe-ecf-woocommerce'));
                return null;
            }
            $document = Payload::ofOrder($order);
        } else {
            $first = State::of($shown);
            if (!$first->isAccepted()) {
                $wasNoted = $state->get('waits');
                // Where a person has to correct the order first, nothing is looked at until its receipt is accepted.
                $state->save(['waits' => true], isOpen: $first->isOpen());
                if (!$wasNoted) {
                    $text = __('The credit note waits until the e-CF of the order is accepted.', 'fe-ecf-woocommerce');
                    $state->note($text);
                }
                return null;
            }
            $document = Payload::ofRefund($order, $shown, $first->text('number'));
        }
        if ($state->get('number') !== null) {
            $document['Encabezado']['IdDoc']['eNCF'] = $state->text('number'); // of a rejected one, free again
        }
        $attempt = (int) ($state->get('attempt') ?? 1);
        $id = "woo-{$this->settings->site()}-{$order->get_id()}" . ($attempt > 1 ? "-$attempt" : '');
        $call = ['document' => $document, 'clientRequestId' => $id];
        $sequence = $this->settings->get('sequence');
        $mail = $this->settings->get('mail') === 'yes' ? (string) $shown->get_billing_email() : '';
        $call += ($sequence !== '' ? ['sequence' => $sequence] : []) + ($mail !== '' ? ['notify' => $mail] : []);
        // For a shop's own wishes; in a test environment `simulate` asks for a verdict.
        $call = ['clientRequestId' => $id] + (array) apply_filters('fe_ecf_call', $call, $order);
        $document = $call['document'];
        $state->save(['sent' => $call, 'id' => $id, 'total' => $document['Encabezado']['Totales']['MontoTotal'] ?? null]);
        return $call;
    }

    /** Prepare a new attempt, unless the authority may have taken the old one after all. */
    private function renew(State $state, Fe $fe): void
    {
        $old = $state->get('track') === null ? ['status' => 'error'] : $this->seen($state, $fe);
        $isOver = in_array($old['status'], ['Rechazado', 'error'], true);
        if ($isOver && ($old['numberFate'] ?? null) === 'unknown') {
            throw new FeError(__('The service is still finding out whether the DGII has it.', 'fe-ecf-woocommerce'));
        }
        if (!$isOver) {
            $state->save(['again' => null]);
            return;
        }
        $number = ($old['numberFate'] ?? null) === 'reusable' ? ($old['eNCF'] ?? null) : null;
        $gone = array_fill_keys(['again', 'sent', 'track', 'status', 'code', 'qr', 'link', 'reused', 'explained'], null);
        $state->save($gone + ['number' => $number, 'attempt' => (int) ($state->get('attempt') ?? 1) + 1]);
    }

    /** Keep what the service says of a receipt; note its verdict on the order. */
    private function take(State $state, array $seen, Fe $fe): void
    {
        $explained = array_map(fn (array $one): string => "$one[codigo]: $one[meaning] $one[action]", $seen['explained'] ?? []);
        $state->save([
            'status' => $seen['status'],
            'number' => $seen['eNCF'] ?? null,
            'code' => $seen['securityCode'] ?? null,
            'qr' => $seen['qrCodeUrl'] ?? null,
            'environment' => $seen['environment'] ?? null,
            'explained' => $explained ?: null,
        ]);
        if (!$state->isFinal()) {
            $state->save(['tries' => (int) $state->get('tries') + 1]);
            Jobs::schedule($state->order->get_id(), min(self::LONGEST_PAUSE, 5 * 2 ** min(10, (int) $state->get('tries'))));
            return;
        }
        if (!$state->isAccepted()) {
            $state->save([], isOpen: false);
            $state->note($this->rejection($state, $seen));
            return;
        }
        $state->save(['link' => $this->link($state, $fe), 'said' => null, 'tries' => 0], isOpen: false);
        $text = __('The DGII accepted e-CF %1$s. Security code: %2$s. %3$s', 'fe-ecf-woocommerce');
        $state->note(trim(sprintf($text, $state->text('number'), $state->text('code'), implode(' ', $explained))));
        $total = Decimal::of($seen['montoTotal'] ?? $state->text('total'));
        if ($total->compare(Decimal::of($state->text('total'))) !== 0) {
            $text = __('The total of the e-CF is %1$s, that of the order %2$s.', 'fe-ecf-woocommerce');
            $state->note(sprintf($text, $total->text(), $state->text('total')));
        }
        if ($state->order instanceof \WC_Order) {
            foreach ($state->order->get_refunds() as $refund) {
                $its = State::of($refund);
                if ($its->get('waits')) {
                    $its->save(['waits' => null], isOpen: true);
                    Jobs::schedule($refund->get_id());
                }
            }
        }
    }

    private function rejection(State $state, array $seen): string
    {
        $why = implode(' ', (array) $state->get('explained'));
        $raw = $seen['response'] ?? null;
        if ($why === '' && is_array($raw)) {
            $why = is_string($raw['error'] ?? null) ? $raw['error'] : (string) json_encode($raw, JSON_UNESCAPED_UNICODE);
        }
        $text = $seen['status'] === 'Rechazado'
            ? __('The DGII rejected e-CF %1$s, which has no fiscal value. %2$s', 'fe-ecf-woocommerce')
            : __('e-CF %1$s failed, and has no fiscal value. %2$s', 'fe-ecf-woocommerce');
        $next = __('Correct it, then choose the order action "Issue the e-CF again".', 'fe-ecf-woocommerce');
        return sprintf($text, $state->text('number'), mb_substr($why, 0, 2000)) . " $next";
    }

    /** The buyer's page, where the service has one. */
    private function link(State $state, Fe $fe): ?string
    {
        try {
            $said = $fe->call('POST', '/invoices/' . rawurlencode($state->text('track')) . '/share', isRepeatable: true);
            return (string) ($said['url'] ?? '') ?: null;
        } catch (ConflictError | ForbiddenError) {
            return null; // no such page, or not for this key
        }
    }

    /** What repeating cannot help: a person has to correct it. */
    private function refuse(State $state, \Exception $error): void
    {
        $next = __('Correct it, then choose the order action "Issue the e-CF again".', 'fe-ecf-woocommerce');
        if ($error instanceof ReusedIdError) {
            $next = __('Compare both before you choose the order action "Issue the e-CF again".', 'fe-ecf-woocommerce');
            $text = __('This order\'s id was used for another receipt, %s: the shop may have been restored from a copy.', 'fe-ecf-woocommerce');
            $why = sprintf($text, $error->first['eNCF'] ?? $error->first['taxLogId']);
            $state->save(['reused' => true], isOpen: false);
        } else {
            $why = $error->getMessage();
            $language = str_starts_with(determine_locale(), 'es') ? 'Es' : '';
            foreach ($error instanceof InvalidError ? array_slice($error->problems, 0, 5) : [] as $problem) {
                $fix = $problem["fix$language"] ?? $problem['fix'] ?? '';
                $why .= "\n" . trim("{$problem['path']}: " . ($problem["message$language"] ?? $problem['message']) . ". $fix");
            }
            $state->save(['sent' => null], isOpen: false);
        }
        $state->save(['said' => $why]);
        $state->note(__('No e-CF was issued.', 'fe-ecf-woocommerce') . " $why $next");
    }

    /** What may pass by itself: a lost line, 429, 503, a key that is locked. */
    private function later(State $state, FeError $error): void
    {
        $tries = (int) $state->get('tries') + 1;
        $pause = min(self::LONGEST_PAUSE, 15 * 2 ** min(10, $tries));
        if ($error instanceof WrongCredentialsError || $error instanceof ForbiddenError) {
            $pause = self::LONGEST_PAUSE; // each try counts as a login that failed
        } elseif ($error instanceof ApiError && $error->retryAfter !== null) {
            $pause = max($pause, (int) ceil($error->retryAfter));
        }
        if ($state->text('said') !== $error::class) {
            $text = __('The e-CF service could not be asked, and is asked again by itself: %s', 'fe-ecf-woocommerce');
            $state->note(sprintf($text, $error->getMessage()));
        }
        $state->save(['tries' => $tries, 'said' => $error::class]);
        Jobs::schedule($state->order->get_id(), $pause);
    }
}
