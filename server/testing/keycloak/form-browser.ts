/** A person at the pages of Keycloak: keeps cookies, follows redirects within Keycloak, and sends forms. */
import assert from 'node:assert/strict';

export type FormBrowser = ReturnType<typeof openFormBrowser>;

/** Keycloak shows a page, or leads away from itself. */
type Arrived = { left: URL } | { page: string; at: URL };

const MAX_STEPS = 10;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openFormBrowser(issuer: string) {
  const cookies = new Map<string, string>();
  const { origin } = new URL(issuer);

  async function go(url: URL, form?: URLSearchParams): Promise<Arrived> {
    let [next, body] = [url, form];
    for (let step = 0; step < MAX_STEPS; step += 1) {
      if (next.origin !== origin) return { left: next };
      const answer = await fetch(next, {
        method: body === undefined ? 'GET' : 'POST',
        redirect: 'manual',
        headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(body && { body }),
      });
      keepCookies(answer);
      const location = answer.headers.get('location');
      if (location === null) return { page: await answer.text(), at: next };
      [next, body] = [new URL(location, next), undefined];
    }
    throw new Error('Keycloak leads nowhere');
  }

  function keepCookies(answer: Response): void {
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) cookies.delete(name);
      else cookies.set(name, value);
    }
  }

  /** Sends the form of a page with its hidden fields. */
  async function send(arrived: Arrived, fields: Record<string, string>): Promise<Arrived> {
    assert.ok('page' in arrived, 'Keycloak shows a page');
    const [, action] = /<form[^>]*action="([^"]+)"/.exec(arrived.page) ?? [];
    assert.ok(action !== undefined, `the page has a form: ${arrived.page}`);
    const form = new URLSearchParams(fields);
    for (const [input] of arrived.page.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
      const [, name] = /name="([^"]*)"/.exec(input) ?? [];
      const [, value = ''] = /value="([^"]*)"/.exec(input) ?? [];
      if (name !== undefined && !form.has(name)) form.set(name, plain(value));
    }
    return go(new URL(plain(action), arrived.at), form);
  }

  return {
    open: (url: string) => go(new URL(url)),
    send,
    /** The address to which Keycloak leads; without a form where the person is signed in there already. */
    async signIn(url: string, name: string): Promise<URL> {
      const first = await go(new URL(url));
      if ('left' in first) return first.left;
      const arrived = await send(first, { username: name, password: `the password of ${name}` });
      if ('left' in arrived) return arrived.left;
      throw new Error(`Keycloak leads back with no answer: ${arrived.page}`);
    },
  };
}

function plain(html: string): string {
  return html.replaceAll('&amp;', '&').replaceAll('&quot;', '"');
}
