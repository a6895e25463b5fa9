/** `node server/src/control/openapi.ts > docs/use/openapi.json`: the API's description, made of the endpoints themselves. */
import * as contract from '@millrace/contract/control';
import type { TObject, TSchema } from 'typebox';
import type { AccountRoute } from './http/account-route.ts';
import { ACCOUNT_ROUTES, ROUTES, STREAM_ROUTES } from './all-routes.ts';
import { SESSION_COOKIE } from './access/session-cookie.ts';
import type { Route as OneAnswer } from './http/route.ts';
import { permissionsOf } from './http/route-rights.ts';
import type { StreamRoute } from './http/stream-route.ts';
import { VERSION } from '../version.ts';

type Schemas = Map<string, TSchema>;
type Route = OneAnswer | StreamRoute;

export function openApiDocument(): object {
  const schemas: Schemas = new Map([['ProblemDocument', contract.ProblemDocument]]);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of [...ACCOUNT_ROUTES, ...ROUTES, ...STREAM_ROUTES]) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(route, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace control API',
      version: VERSION,
      description: 'Configures sources, destinations and access. See docs/use/control-api.md.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: tagsOf(Object.keys(paths)),
    paths,
    components: { ...COMPONENTS, schemas: Object.fromEntries(schemas) },
  };
}

const TAGS: Readonly<Record<string, string>> = {
  bootstrap: 'The first start of an installation',
  session: 'Signing in and out',
  'password-resets': 'A new password by a link',
  me: 'Your own account',
  sessions: 'Your sessions',
  workspaces: 'New workspaces',
  workspace: 'Owns sources and destinations; the unit of access',
  members: 'The members of a workspace and their roles',
  invitations: 'Links with which people join a workspace',
  tokens: 'API tokens for scripts',
  'single-sign-on': 'The connection of a workspace to its OpenID provider',
  'audit-log': 'Every change, with its actor',
  catalog: 'The kinds of destinations',
  sources: 'Where calls come from, and their write keys',
  destinations: 'Where the events of a source are delivered',
  'target-hosts': 'The hosts that events go to, and the proof that they are yours',
  definitions: 'Audiences and computed traits',
  profiles: 'One user: what is known, and why they are in an audience',
  overview: 'The home screen of a workspace',
  deliveries: 'The record of each event on its way to each destination',
  events: 'One event, explained',
  'stored-events': 'Events that are still stored, to be searched',
  outcomes: 'Outcomes of deliveries, for programs that follow them',
  metrics: 'Counters over time',
  usage: 'Accepted calls by source and month',
  'dead-letters': 'Deliveries that were given up',
  configuration: 'The configuration that collect and deliver act on; for the operator',
  system: 'The installation as a whole; for the operator',
  operators: 'The people and tokens that run the installation',
  installation: 'The installation above its workspaces; for operators',
  operator: 'Limits of all workspaces; for the operator',
  quarantine: 'Stored messages that could not be read or written; for the operator',
  'deletion-requests': 'Erasure of users',
  suppressions: 'Users whose calls are dropped',
  replays: 'Stored events delivered again',
  redrives: 'Dead letters delivered again, many at a time',
};

const SIGNED_IN = [{ token: [] }, { session: [] }];

const SECURITY = {
  anybody: [],
  'signed-in': SIGNED_IN,
  user: [{ session: [] }],
} as const satisfies Record<AccountRoute['access'], unknown>;

const COMPONENTS = {
  securitySchemes: {
    token: { type: 'http', scheme: 'bearer', description: 'An API token: `mlr_…`' },
    setupToken: { type: 'http', scheme: 'bearer', description: 'The one-time token from the log of the first start' },
    session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Set by signing in' },
  },
  parameters: {
    workspace: {
      name: 'Millrace-Workspace',
      in: 'header',
      description: 'The id of the workspace; optional for a user who is in one workspace only.',
      schema: { type: 'string' },
    },
    idempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'For 24 hours the same request with the same key gets the stored answer; its work is done once.',
      schema: { type: 'string', minLength: 1, maxLength: 200 },
    },
  },
  responses: {
    problem: {
      description: 'The mistake and its remedy',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/ProblemDocument' } } },
    },
  },
};

function operationOf(route: Route | AccountRoute, schemas: Schemas): object {
  const problem = { $ref: '#/components/responses/problem' };
  const parameters = parametersOf(route);
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    tags: [tagOf(route.url)],
    security: securityOf(route),
    ...('permission' in route ? { 'x-permission': route.permission } : {}),
    ...('permission' in route ? rightsOf(route) : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...('body' in route && route.body !== undefined
      ? { requestBody: { required: true, content: json(route.body, schemas) } }
      : {}),
    responses: {
      [route.status]: successOf(route, schemas),
      ...otherOf(route, schemas),
      '4XX': problem,
      '5XX': problem,
    },
  };
}

/** `x-hides-payloads`: readers without payloads:read get the answer without them. */
function rightsOf(route: Route): object {
  const [, ...others] = permissionsOf(route);
  return {
    ...(others.length > 0 ? { 'x-also-needs': others } : {}),
    ...(route.payloads !== undefined && 'hide' in route.payloads ? { 'x-hides-payloads': true } : {}),
  };
}

function successOf(route: Route | AccountRoute, schemas: Schemas): object {
  const { answer } = route;
  if ('isStream' in route) {
    const { 'application/json': content } = json(route.answer, schemas);
    if (route.form === 'lines') {
      return {
        description: 'Lines of JSON, until the client or the server ends the stream',
        content: { 'application/x-ndjson': content },
      };
    }
    return {
      description: 'Server-sent events, until the client or the server ends the stream',
      content: { 'text/event-stream': content },
    };
  }
  if ('lines' in route) return { description: 'Lines of JSON', content: { 'application/x-ndjson': {} } };
  return answer === undefined ? { description: 'Done' } : { description: 'Done', content: json(answer, schemas) };
}

function otherOf(route: Route | AccountRoute, schemas: Schemas): object {
  if (!('other' in route) || route.other === undefined) return {};
  const { status, answer } = route.other;
  return { [status]: { description: 'Another step is needed', content: json(answer, schemas) } };
}

function securityOf(route: Route | AccountRoute): readonly object[] {
  if (!('access' in route)) return SIGNED_IN;
  return route.url === '/api/v1/bootstrap' ? [{ setupToken: [] }] : SECURITY[route.access];
}

function parametersOf(route: Route | AccountRoute): object[] {
  const inPath = [...route.url.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  if (!('permission' in route)) return inPath;
  const headers = route.method === 'POST' ? ['workspace', 'idempotencyKey'] : ['workspace'];
  const shared = headers.map((name) => ({ $ref: `#/components/parameters/${name}` }));
  return [...inPath, ...queryOf(route.query), ...shared];
}

function queryOf(query: TObject | undefined): object[] {
  const isRequired = (name: string) => query?.required?.includes(name) === true;
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => {
    return { name, in: 'query', ...(isRequired(name) ? { required: true } : {}), schema };
  });
}

/** Schemas that the contract names are named here too. */
function json(schema: TSchema, schemas: Schemas): { 'application/json': object } {
  const [name] = Object.entries(contract).find(([, exported]) => exported === schema) ?? [];
  if (name !== undefined) schemas.set(name, schema);
  return { 'application/json': { schema: name === undefined ? schema : { $ref: `#/components/schemas/${name}` } } };
}

/** `GET /api/v1/sources/:id` is getSourcesById. */
function operationIdOf({ method, url }: Route | AccountRoute): string {
  const words = url
    .slice('/api/v1/'.length)
    .replaceAll('/:', '-by-')
    .split(/[/-]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return method.toLowerCase() + words.join('');
}

function tagOf(url: string): string {
  return url.split('/')[3] ?? '';
}

function tagsOf(paths: string[]): object[] {
  return [...new Set(paths.map(tagOf))].map((name) => ({ name, description: TAGS[name] }));
}

if (import.meta.main) console.log(JSON.stringify(openApiDocument(), null, 2));
