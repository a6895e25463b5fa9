/** The administrator of a Keycloak, over its admin API. */

export type Administrator = Awaited<ReturnType<typeof openAdministrator>>;

type Found = Record<string, unknown> & { id: string };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openAdministrator(url: string, { realm, password }: { realm: string; password: string }) {
  /** Anew for each request: a token is valid for a minute. */
  async function token(): Promise<string> {
    const body = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username: 'admin', password });
    const answer = await fetch(`${url}/realms/master/protocol/openid-connect/token`, { method: 'POST', body });
    const { access_token } = (await answer.json()) as { access_token?: string };
    if (access_token === undefined) throw new Error(`the administrator cannot sign in: ${answer.status}`);
    return access_token;
  }

  async function send(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { Authorization: `Bearer ${await token()}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  const ask = (method: string, path: string, body?: unknown) => send(method, `/${realm}${path}`, body);
  const findOne = async (path: string): Promise<Found | undefined> => ((await ask('GET', path)) as Found[])[0];
  const mustFind = async (path: string): Promise<Found> => {
    const found = await findOne(path);
    if (found === undefined) throw new Error(`Keycloak does not have ${path}`);
    return found;
  };
  const userNamed = (name: string) => mustFind(`/users?exact=true&username=${name}`);
  const groupNamed = (name: string) => mustFind(`/groups?exact=true&search=${name}`);

  return {
    ask,
    makeRealm: (representation: object) => send('POST', '', representation),
    clientNamed: (clientId: string) => findOne(`/clients?clientId=${clientId}`),
    async changeUser(name: string, change: object): Promise<void> {
      const user = await userNamed(name);
      await ask('PUT', `/users/${user.id}`, { ...user, ...change });
    },
    async setInGroup(name: string, group: string, isMember: boolean): Promise<void> {
      const [user, { id }] = [await userNamed(name), await groupNamed(group)];
      await ask(isMember ? 'PUT' : 'DELETE', `/users/${user.id}/groups/${id}`);
    },
    async changeClient(clientId: string, attributes: object): Promise<void> {
      const client = await mustFind(`/clients?clientId=${clientId}`);
      const merged = { ...(client['attributes'] as object), ...attributes };
      await ask('PUT', `/clients/${client.id}`, { ...client, attributes: merged });
    },
    /** From now on the realm signs with a new RSA key, and publishes the old ones as well. */
    async addKey(name: string, priority: number): Promise<void> {
      const { id } = (await ask('GET', '')) as Found;
      const config = { priority: [String(priority)], enabled: ['true'], active: ['true'], keySize: ['2048'] };
      const providerType = 'org.keycloak.keys.KeyProvider';
      await ask('POST', '/components', { name, providerId: 'rsa-generated', providerType, parentId: id, config });
    },
    async removeKey(name: string): Promise<void> {
      const components = (await ask('GET', '/components?type=org.keycloak.keys.KeyProvider')) as Found[];
      const found = components.find((component) => component['name'] === name);
      if (found === undefined) throw new Error(`there is no key ${name}`);
      await ask('DELETE', `/components/${found.id}`);
    },
  };
}
