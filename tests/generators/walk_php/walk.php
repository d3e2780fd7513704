<?php
// From the login to a verdict, with the client that openapi-generator makes for PHP.
require '/usr/share/php/GuzzleHttp/autoload.php';
spl_autoload_register(function (string $name): void {
    $file = __DIR__ . '/lib/' . str_replace(['OpenAPI\\Client\\', '\\'], ['', '/'], $name) . '.php';
    if (is_file($file)) {
        require $file;
    }
});

use OpenAPI\Client\Api\LoginApi;
use OpenAPI\Client\Api\SubmissionsApi;
use OpenAPI\Client\Api\WebhooksApi;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\LoginRequest;
use OpenAPI\Client\Model\NewStructuredInvoice;

[, $base, $id, $secret, $name] = $argv;
$http = new GuzzleHttp\Client();
$config = (new Configuration())->setHost($base);
$token = (new LoginApi($http, $config))->login(new LoginRequest(['api_key_id' => $id, 'api_secret' => $secret]));
$config->setAccessToken($token->getAccessToken());

$payload = [
    'Encabezado' => [
        'IdDoc' => ['TipoeCF' => '31', 'TipoIngresos' => '01', 'TipoPago' => '1'],
        'Comprador' => ['RNCComprador' => '131880657', 'RazonSocialComprador' => 'Cliente SRL'],
    ],
    'DetallesItems' => ['Item' => [[
        'NombreItem' => 'Martillo', 'IndicadorFacturacion' => '1', 'IndicadorBienoServicio' => '1',
        'CantidadItem' => '2', 'PrecioUnitarioItem' => '450.50',
    ]]],
];
$body = new NewStructuredInvoice(['format' => 'structured', 'payload' => $payload, 'client_request_id' => $name]);
$submissions = new SubmissionsApi($http, $config);
$taken = $submissions->submitInvoice($body);
$again = $submissions->submitInvoice($body);
$found = $submissions->getInvoice($taken->getTaxLogId(), 30);
$missing = $submissions->getInvoice('00000000-0000-7000-8000-000000000000');
echo json_encode([
    'status' => $found->getStatus(), 'eNCF' => $found->getENcf(), 'billable' => $taken->getBillable(),
    'deduped' => $again->getDeduped(), 'found' => $missing->getFound(),
    'webhooks' => count((new WebhooksApi($http, $config))->listWebhooks()->getItems()),
]), "\n";
