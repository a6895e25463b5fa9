/** A signed request from a terminal. */
const SAMPLE =
  '{"version":1,"type":"track","userId":"u1","event":"Order Completed","properties":{"revenue":12.5},"timestamp":"2026-11-15T00:08:46.123Z","context":{}}';

export function curlSnippet(url: string): string {
  return `# Run it: WEBHOOK_SECRET='…' sh try-receiver.sh
URL=${quoted(url.trim() === '' ? 'http://127.0.0.1:8000/webhooks' : url.trim())}
ID="test_$(date +%s)"
SENT_AT=$(date +%s)
BODY='${SAMPLE}'

# The key: what follows whsec_, decoded from base64; any other secret as it stands.
case "$WEBHOOK_SECRET" in
  whsec_*) KEY=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n') ;;
  *) KEY=$(printf %s "$WEBHOOK_SECRET" | od -An -v -tx1 | tr -d ' \\n') ;;
esac
SIGNATURE=$(printf '%s.%s.%s' "$ID" "$SENT_AT" "$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)

curl -i "$URL" -H 'Content-Type: application/json' -d "$BODY" \\
  -H "webhook-id: $ID" -H "webhook-timestamp: $SENT_AT" -H "webhook-signature: v1,$SIGNATURE"
`;
}

/** For a shell: nothing between single quotes has a meaning, except the single quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
