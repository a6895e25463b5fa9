// oxlint-disable max-lines -- one table
/**
 * The rooms of server/src, from the wires down to the leaves, each with its purpose and the rooms that it may import. A room imports
 * only rooms below it, so there is no circle. Every room may also import the contract.
 */
export type Room = { holds: string; imports: readonly string[] };

const LEAVES = ['domain', 'limits', 'log', 'metrics', 'pause'];
const ENDPOINT = [
  'control/http',
  'control/factors',
  'control/mail',
  'control/access',
  'control/limits',
  'control/problems',
  'store',
  'store/compute',
  'store/definitions',
];
const STREAM = ['domain', 'limits', 'log', 'metrics', 'pause', 'stream/layout', 'stream/nats', 'stream/quarantine'];

export const ROOMS: Readonly<Record<string, Room>> = {
  demo: {
    holds: 'npm run dev: the server with a source, a receiver and a screen to look at',
    imports: [
      'demo/shop',
      '.',
      'processes',
      'collect',
      'control',
      'control/access',
      'secrets',
      'store',
      'stream/*',
      ...LEAVES,
    ],
  },
  'demo/shop': {
    holds: 'npm run dev -- --demo: a made-up shop that uses the real APIs, with receivers in every state of health',
    imports: LEAVES,
  },
  '.': {
    holds: 'the programs, the settings and the wiring of roles',
    imports: [
      'collect',
      'compute',
      'control',
      'deliver',
      'cells',
      'record',
      'projection',
      'store',
      'stream',
      'stream/*',
      'http',
      'secrets',
      'tracing',
      'version',
      'processes',
      ...LEAVES,
    ],
  },
  processes: {
    holds: 'several processes for one installation on one machine: the supervisor, its children, one page of metrics',
    imports: ['limits', 'metrics', 'log', 'pause'],
  },
  collect: {
    holds: 'role: calls come in over HTTP and are stored; never touches PostgreSQL',
    imports: ['stream/config', 'stream/events', 'stream/signals', 'http', 'tracing', ...LEAVES],
  },
  deliver: {
    holds: 'role: wires the rooms of delivery; never touches PostgreSQL',
    imports: ['deliver/*', 'stream', 'stream/*', 'http', 'secrets', 'tracing', ...LEAVES],
  },
  'deliver/request': {
    holds: 'a stored request is taken apart into deliveries',
    imports: [
      'deliver/settle',
      'deliver/dispatch',
      'deliver/attempt',
      'stream/config',
      'stream/events',
      'stream/nats',
      ...LEAVES,
    ],
  },
  'deliver/lane': {
    holds: 'a destination’s waiting deliveries are drained under a leased ticket',
    imports: [
      'deliver/settle',
      'deliver/dispatch',
      'deliver/attempt',
      'stream',
      'stream/config',
      'stream/deliveries',
      'stream/layout',
      'stream/nats',
      ...LEAVES,
    ],
  },
  'deliver/ask': {
    holds:
      'answers questions of control: checks a URL, sends a test or a request of a check-up, rebuilds a past request, reads the proof of a host',
    imports: ['deliver/attempt', 'deliver/client', 'stream/config', ...LEAVES],
  },
  'deliver/settle': {
    holds: 'carries out an outcome: records it, parks the delivery in its lane, or stores a dead letter',
    imports: [
      'deliver/dispatch',
      'deliver/attempt',
      'stream',
      'stream/deliveries',
      'stream/nats',
      'stream/signals',
      ...LEAVES,
    ],
  },
  'deliver/dispatch': {
    holds: 'which attempt is made next: slots, gates (circuit breakers), standings',
    imports: ['deliver/attempt', 'deliver/client', 'stream/deliveries', ...LEAVES],
  },
  'deliver/attempt': {
    holds: 'one attempt: the webhook’s headers and body, its POSTs, what the answers mean, the retry schedule',
    imports: ['deliver/client', 'stream/config', 'secrets', ...LEAVES],
  },
  'deliver/client': {
    holds: 'the HTTP client for customers’ URLs, the only one: address policy, deadlines, limits on answers',
    imports: ['http', 'domain'],
  },
  compute: {
    holds: 'role: folds events into profiles and sends what changes of audiences and computed traits',
    imports: ['compute/*', 'store', 'store/*', 'stream', 'stream/*', ...LEAVES],
  },
  'compute/lifecycle': {
    holds: 'definitions are made, edited and deleted: backfill, scan, first syncs',
    imports: [
      'store/compute',
      'store/definitions',
      'store',
      'compute/fold',
      'compute/state',
      'compute/profiles',
      'stream',
      'stream/events',
      ...LEAVES,
    ],
  },
  control: {
    holds: 'role: wires the control API',
    imports: [
      'control/*',
      'control/endpoints/*',
      'projection',
      'record',
      'store',
      'stream',
      'stream/*',
      'http',
      'secrets',
      'version',
      ...LEAVES,
    ],
  },
  'control/endpoints/people': {
    holds: 'the endpoints about people: signing in, sessions, members, invitations, tokens, workspaces',
    imports: [...ENDPOINT, 'http'],
  },
  'control/endpoints/factors': {
    holds: 'the endpoints about second factors: enrolling, confirming, the second step of a sign-in, passkeys',
    imports: [...ENDPOINT, 'http'],
  },
  'control/endpoints/installation': {
    holds: 'the endpoints about workspaces as wholes: operators, all workspaces by number, the audit log, their end',
    imports: [...ENDPOINT, 'control/audit', 'control/settings'],
  },
  'control/endpoints/sso': {
    holds: 'the endpoints of single sign-on: the connection of a workspace, signing in by it, linking an account',
    imports: [...ENDPOINT, 'control/sso', 'http', 'secrets'],
  },
  'control/endpoints/flow': {
    holds:
      'the endpoints about the flow: sources, destinations, deliveries, explain, replays, dead letters, deletions, tail',
    imports: [
      ...ENDPOINT,
      'control/settings',
      'control/jobs',
      'projection',
      'record',
      'stream/quarantine',
      'stream/signals',
      ...LEAVES,
    ],
  },
  'control/endpoints/audiences': {
    holds: 'the endpoints of audiences and computed traits: definitions, preview, members, profiles, why one is in',
    imports: [
      ...ENDPOINT,
      'control/jobs',
      'compute/fold',
      'compute/profiles',
      'compute/state',
      'stream/events',
      'stream/layout',
      'breathe',
      ...LEAVES,
    ],
  },
  'control/endpoints/try': {
    holds:
      'the endpoints that ask deliver: URL check, proof of a host, test, check-up, preview, the request of a past attempt',
    imports: [...ENDPOINT, 'control/settings', 'control/jobs', 'record', ...LEAVES],
  },
  'control/endpoints/look': {
    holds: 'the endpoints of the console’s screens: the overview, stored events, the schema of a source, the system',
    imports: [...ENDPOINT, 'control/jobs', 'record', 'stream/config', 'stream/events', 'breathe', ...LEAVES],
  },
  'control/jobs': {
    holds: 'long work asked for over the API: replays, retries of dead letters, deletions, removed workspaces',
    imports: [
      'control/http',
      'projection',
      'store',
      'store/compute',
      'store/definitions',
      'stream',
      'stream/config',
      'stream/deliveries',
      'stream/events',
      'breathe',
      ...LEAVES,
    ],
  },
  'control/http': {
    holds:
      'the steps of every request: authentication, authorization, validation, idempotency, paging, fair shares, audit',
    imports: [
      'control/mail',
      'control/audit',
      'control/sso',
      'control/access',
      'control/settings',
      'control/limits',
      'control/problems',
      'projection',
      'secrets',
      'http',
      'store',
      'stream',
      'stream/signals',
      'installed-files',
      ...LEAVES,
    ],
  },
  'control/factors': {
    holds:
      'second factors: codes of authenticator apps, passkeys, recovery codes, the ticket between password and factor',
    imports: ['control/mail', 'control/access', 'control/problems', 'secrets', 'store', 'log'],
  },
  'control/audit': {
    holds: 'the audit log beside the changes: reads and refused permissions, the export, the stream to a webhook',
    imports: ['secrets', 'store', 'stream/signals', ...LEAVES],
  },
  'control/mail': {
    holds: 'mails to people: their texts, the queue in PostgreSQL, sending over SMTP, one-use links of accounts',
    imports: ['control/access', 'secrets', 'store', 'log', 'metrics', 'pause'],
  },
  'control/sso': {
    holds:
      'asks OpenID providers, the only requests of control to the outside; a person of a provider gets their account',
    imports: ['control/settings', 'control/access', 'control/problems', 'http', 'store'],
  },
  'control/settings': {
    holds: 'the settings of a destination: checked by the catalog’s schema, sealed, limited in size',
    imports: [
      'control/limits',
      'control/problems',
      'projection',
      'secrets',
      'http',
      'store',
      'stream/config',
      'version',
      ...LEAVES,
    ],
  },
  'control/limits': {
    holds: 'the limits of workspaces: their numbers, their use, the refusal of what is over one; the proof of hosts',
    imports: ['control/problems', 'secrets', 'store', 'stream', ...LEAVES],
  },
  'control/access': {
    holds: 'identity and permissions: sessions, passwords, tokens, roles, the guard of sign-ins',
    imports: ['control/problems', 'http', 'secrets', 'store', 'log', 'pause'],
  },
  'control/keys': {
    holds: 'the key ring of sealed secrets, and its rotation',
    imports: ['secrets', 'store', 'log', 'pause'],
  },
  'control/problems': { holds: 'every refusal of the control API, as RFC 9457 documents', imports: ['store', 'log'] },
  cells: {
    holds:
      'several NATS clusters: links to them, which one a request goes to, and the views of control and compute over all',
    imports: ['record', 'projection', 'store', 'stream', 'stream/*', 'secrets', 'version', ...LEAVES],
  },
  record: {
    holds: 'outcomes become rows: the recorder, usage, sightings, refusals, the story that explain tells',
    imports: ['store', 'stream', 'stream/*', ...LEAVES],
  },
  projection: {
    holds: 'rows become entries of the config bucket: outbox, projector, repair',
    imports: ['store', 'stream/config', 'stream/layout', ...LEAVES],
  },
  'store/compute': {
    holds: 'PostgreSQL: profiles, memberships, transitions and positions of audiences and computed traits',
    imports: ['store/definitions', 'compute/state', 'compute/profiles', 'store', 'domain'],
  },
  'store/definitions': {
    holds: 'PostgreSQL: definitions of audiences and computed traits, their versions and what is left to do for them',
    imports: ['compute/profiles', 'store'],
  },
  store: { holds: 'PostgreSQL: all SQL, one file a table', imports: ['domain', 'log', 'installed-files', 'version'] },
  'compute/fold': {
    holds: 'pure: events become facts of profiles, definitions are evaluated over them, changes become transitions',
    imports: ['compute/state', 'compute/profiles', 'domain'],
  },
  'compute/state': {
    holds: 'pure: the state of a profile and its bytes: measures, tiles, traits, groups, message ids, standings',
    imports: ['compute/profiles'],
  },
  'compute/profiles': {
    holds: 'profiles as the fold, the role and the store share them: keys, links, transitions, the face of the store',
    imports: [],
  },
  stream: { holds: 'NATS JetStream as each role sees it', imports: ['stream/*', 'secrets', ...LEAVES] },
  'stream/backup': {
    holds: 'whole streams are copied out and back, for the operator’s backups',
    imports: [...STREAM, 'stream/prepare'],
  },
  'stream/inspect': {
    holds: 'a look at the servers, streams and permissions, for the operator’s commands',
    imports: [...STREAM, 'stream/prepare', 'stream/signals'],
  },
  'stream/events': {
    holds: 'the event streams: requests are appended, read, trimmed',
    imports: [...STREAM, 'stream/leaders', 'breathe'],
  },
  'stream/deliveries': {
    holds: 'lanes, tickets, outcomes, dead letters, lane health, shares of the storage',
    imports: [...STREAM, 'stream/leaders'],
  },
  'stream/config': { holds: 'the config bucket, written and watched; audit anchors', imports: [...STREAM, 'secrets'] },
  'stream/signals': {
    holds: 'messages that are published and never stored: tail, sightings, refusals, peers, questions to deliver',
    imports: STREAM,
  },
  'stream/prepare': {
    holds: 'streams and buckets are created and follow their plan',
    imports: [...STREAM, 'stream/leaders'],
  },
  'stream/quarantine': {
    holds: 'stored things that no version can read are set aside',
    imports: ['log', 'metrics', 'pause', 'stream/layout', 'stream/nats'],
  },
  'stream/leaders': {
    holds: 'questions to leaders; servers that reach none are left, and consumers leave copies that are behind',
    imports: ['log', 'pause', 'stream/layout', 'stream/nats'],
  },
  'stream/nats': {
    holds: 'connections, publishing with acknowledgement, pulling, watching, the engine’s clock',
    imports: ['log', 'metrics', 'pause', 'stream/layout'],
  },
  'stream/layout': { holds: 'the table of every stream, subject, consumer, bucket and permission', imports: [] },
  metrics: {
    holds: 'every metric, declared once, and the endpoint that serves them',
    imports: ['http', 'log', 'pause'],
  },
  tracing: { holds: 'spans for attempts and requests', imports: ['log'] },
  secrets: { holds: 'sealing, signing, the secrets of the demo', imports: [] },
  http: { holds: 'shared by all roles: the hardened HTTP server, the address policy', imports: [] },
  limits: {
    holds:
      'pure: every limit of a workspace, the rates that token buckets keep, the host of a target, how long a stop may take',
    imports: ['domain'],
  },
  domain: {
    holds: 'pure types and decisions: deliveries, routing, configuration, the format of everything stored',
    imports: [],
  },
  log: { holds: 'the log', imports: [] },
  pause: {
    holds: 'waits of background loops, which end at beats that all loops of a process share while it rests',
    imports: [],
  },
  version: { holds: 'the version of this server', imports: ['installed-files'] },
  'installed-files': { holds: 'where the migrations and the console are installed', imports: [] },
  breathe: { holds: 'lets the event loop turn inside long loops', imports: [] },
};
