import { LOOPBACK, type NetHost } from './net-host.ts';
import { renderAccounts, type ProofOf } from '../../server/src/stream/layout/render-users.ts';

/** One server of a development or test cluster. */
export type NatsNodeSettings = {
  name: string;
  storeDir: string;
  port: number;
  monitorPort: number;
  clusterPort: number;
  /** Cluster ports of every node, itself included; one entry means no cluster. */
  clusterPorts: number[];
  /** The address of each of these nodes; loopback without this. */
  clusterAddresses?: string[] | undefined;
  /** The host that it runs on, if not the usual one. */
  host?: NetHost | undefined;
  maxFileStoreMb: number;
  /** `default` exists only so that a test can show that the promise of `always` is really checked. */
  sync: 'always' | 'default';
  tls?: NatsTls | undefined;
  /** The public NKey of the user `millrace`, who then has no password. */
  nkey?: string | undefined;
};

export type NatsTls = {
  certFile: string;
  keyFile: string;
  /** With it, clients need a certificate of that authority. */
  clientCaFile?: string;
};

/**
 * The same promises as in production: every write is synced before it is acknowledged, and the account of the
 * service may ask the servers about their settings, so that start-up can refuse a server that syncs lazily.
 */
export function natsConfig(node: NatsNodeSettings): string {
  const address = node.host?.address ?? LOOPBACK;
  return `server_name: ${node.name}
listen: "${address}:${node.port}"
http: "${address}:${node.monitorPort}"
max_payload: 1MB
jetstream {
  store_dir: "${node.storeDir}"
  max_file_store: ${node.maxFileStoreMb}MB
  ${node.sync === 'always' ? 'sync_interval: always' : ''}
}
system_account: SYS
${renderAccounts(COUNTS, proofOf(node), { systemPassword: 'system', more: [ADMIN] })}${node.nkey === undefined ? 'no_auth_user: millrace' : ''}
${tlsBlock(node)}${clusterBlock(node)}`;
}

/** The most of each kind that development and tests use. */
const COUNTS = { eventStreams: 16, laneStreams: 16, outcomeStreams: 16 };
/** For tests that look at or change what no role may. */
const ADMIN = '      { user: admin, password: admin }';

/** In development and tests a user's password is its name. Without a name in the URL a process is `millrace`. */
function proofOf({ nkey }: NatsNodeSettings): ProofOf {
  return (user) => (user === 'millrace' && nkey !== undefined ? `nkey: ${nkey}` : `user: ${user}, password: ${user}`);
}

function tlsBlock({ tls }: NatsNodeSettings): string {
  if (tls === undefined) return '';
  const clients = tls.clientCaFile === undefined ? '' : `ca_file: "${tls.clientCaFile}"\n  verify: true`;
  return `tls {
  cert_file: "${tls.certFile}"
  key_file: "${tls.keyFile}"
  ${clients}
}
`;
}

function clusterBlock(node: NatsNodeSettings): string {
  if (node.clusterPorts.length === 1) return '';
  const addressOf = (index: number) => node.clusterAddresses?.[index] ?? LOOPBACK;
  const routes = node.clusterPorts.map((port, index) => `"nats://${addressOf(index)}:${port}"`).join(', ');
  return `cluster {
  name: millrace
  listen: "${node.host?.address ?? LOOPBACK}:${node.clusterPort}"
  routes: [${routes}]
}
`;
}
