import { type CallType, CALL_TYPES, isCallType, type RequestShape } from '@millrace/contract';

export type Route =
  | { kind: 'calls'; shape: RequestShape; browser: boolean }
  /** Without a type it is only an image. */
  | { kind: 'pixel'; type: CallType | undefined }
  | { kind: 'settings'; writeKey: string }
  | { kind: 'source_config' }
  /** The browser library reports on itself; taken and dropped. */
  | { kind: 'library_metrics' }
  | { kind: 'alive' }
  | { kind: 'ready' };

export type Routing = { found: true; route: Route; method: 'GET' | 'POST' } | { found: false };

const NOT_FOUND: Routing = { found: false };

/** Browser libraries use the first letter of each type. */
const FIXED_PATHS = new Map<string, Routing>([
  ...CALL_TYPES.map((type) => callsAt(type, { shape: type, browser: false })),
  ...CALL_TYPES.map((type) => callsAt(type.slice(0, 1), { shape: type, browser: true })),
  callsAt('batch', { shape: 'batch', browser: false }),
  callsAt('import', { shape: 'batch', browser: false }),
  callsAt('b', { shape: 'batch', browser: true }),
  ['/v1/m', { found: true, method: 'POST', route: { kind: 'library_metrics' } }],
  ['/sourceConfig', { found: true, method: 'GET', route: { kind: 'source_config' } }],
  ['/healthz', { found: true, method: 'GET', route: { kind: 'alive' } }],
  ['/readyz', { found: true, method: 'GET', route: { kind: 'ready' } }],
]);

/** With or without a trailing slash: Segment's Java library sends one. */
export function routeOf(path: string): Routing {
  const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  return FIXED_PATHS.get(bare) ?? variablePath(bare);
}

function callsAt(name: string, calls: { shape: RequestShape; browser: boolean }): [string, Routing] {
  return [`/v1/${name}`, { found: true, method: 'POST', route: { kind: 'calls', ...calls } }];
}

function variablePath(path: string): Routing {
  const parts = path.split('/');
  if (parts.length === 5 && path.startsWith('/v1/projects/') && parts[4] === 'settings' && parts[3] !== undefined) {
    return { found: true, method: 'GET', route: { kind: 'settings', writeKey: parts[3] } };
  }
  if (parts.length === 4 && path.startsWith('/v1/pixel/')) {
    const type = isCallType(parts[3]) ? parts[3] : undefined;
    return { found: true, method: 'GET', route: { kind: 'pixel', type } };
  }
  return NOT_FOUND;
}
