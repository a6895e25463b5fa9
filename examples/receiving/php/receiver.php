<?php
// Try it: WEBHOOK_SECRET='…' php -S 127.0.0.1:8000 receiver.php
declare(strict_types=1);

const MAX_BODY_BYTES = 512_000;
const TOLERANCE_SECONDS = 300;

$secret = (string) getenv('WEBHOOK_SECRET');
$inbox = getenv('WEBHOOK_INBOX') ?: sys_get_temp_dir() . '/webhook-inbox';

/** HMAC-SHA256 over id, time and body. There are two signatures while a secret is being replaced. */
function has_webhook_signature(string $secret, string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $sent_at = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($sent_at) || abs(time() - (int) $sent_at) > TOLERANCE_SECONDS) {
        return false;
    }
    $key = str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, 6)) : $secret;
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent_at.$body", $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

/** HMAC-SHA1 over the body alone. */
function has_x_signature(string $secret, string $body): bool
{
    return hash_equals(hash_hmac('sha1', $body, $secret), $_SERVER['HTTP_X_SIGNATURE'] ?? '');
}

/**
 * One file for each delivery, for a program of your own to work on: the same id again finds its file there.
 * With a database: a table with a unique key.
 */
function keep(string $inbox, string $id, string $body): bool
{
    $path = $inbox . '/' . hash('sha256', $id) . '.json';
    return file_exists($path) || (file_put_contents("$path.new", $body) !== false && rename("$path.new", $path));
}

/** The status to answer with. */
function receive(string $secret, string $inbox): int
{
    // Keep the check that you use and take out the other one.
    $checks = ['/webhooks' => 'has_webhook_signature', '/webhooks-sha1' => 'has_x_signature'];
    $is_genuine = $checks[$_SERVER['REQUEST_URI']] ?? null;
    if ($is_genuine === null) {
        return 404;
    }
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return 405;
    }
    $body = (string) file_get_contents('php://input', length: MAX_BODY_BYTES + 1);
    if (strlen($body) > MAX_BODY_BYTES) {
        return 413;
    }
    if ($secret === '' || !$is_genuine($secret, $body)) {
        return 401;
    }
    is_dir($inbox) || mkdir($inbox, 0700, true);
    return keep($inbox, $_SERVER['HTTP_WEBHOOK_ID'] ?? '', $body) ? 200 : 503;
}

http_response_code(receive($secret, $inbox));
