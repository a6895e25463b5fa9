curl --fail-with-body "$MILLRACE_URL/api/v1/tokens" \
  -H "Authorization: Bearer $MILLRACE_TOKEN" \
  -H 'Content-Type: application/json' \
  -d '{"name":"Deployment","role":"developer","scopes":["sources:read","sources:write"],"expiresAt":"2099-01-01T00:00:00Z"}'
