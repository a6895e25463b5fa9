curl --fail-with-body "$MILLRACE_URL/api/v1/invitations" \
  -H "Authorization: Bearer $MILLRACE_TOKEN" \
  -H 'Content-Type: application/json' \
  -d '{"email":"ann@example.com","role":"developer"}'
