curl --fail-with-body "$MILLRACE_URL/api/v1/invitations/accept" \
  -H 'Content-Type: application/json' \
  -d "{\"token\":\"$1\",\"name\":\"Ann\",\"password\":\"at least twelve characters\"}"
