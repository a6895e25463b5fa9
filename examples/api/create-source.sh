curl --fail-with-body "$MILLRACE_URL/api/v1/sources" \
  -H "Authorization: Bearer $MILLRACE_TOKEN" \
  -H 'Content-Type: application/json' \
  -d '{"name":"Web shop"}'
