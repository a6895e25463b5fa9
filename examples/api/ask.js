const { MILLRACE_URL, MILLRACE_TOKEN } = process.env;

/** Asks the control API; a refusal becomes an error that says what to change. */
export async function ask(method, path, { body, headers } = {}) {
  const answer = await fetch(`${MILLRACE_URL}/api/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${MILLRACE_TOKEN}`,
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (answer.status === 204) return undefined;
  const value = await answer.json();
  if (answer.ok) return value;
  const fields = (value.errors ?? []).map((error) => ` ${error.path} ${error.message}.`);
  throw new Error(`${value.code}: ${value.title}. ${value.detail}${fields.join('')} (${value.requestId})`);
}
