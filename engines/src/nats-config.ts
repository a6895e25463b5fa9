/** One server of a development or test cluster. */
export type NatsNodeSettings = {
  name: string;
  storeDir: string;
  port: number;
  monitorPort: number;
  clusterPort: number;
  /** Cluster ports of every node, itself included; one entry means no cluster. */
  clusterPorts: number[];
  maxFileStoreMb: number;
  /** `default` exists only so that a test can show that the promise of `always` is really checked. */
  sync: 'always' | 'default';
  tls?: NatsTls | undefined;
  /** The public NKey of the service's user, who then has no password. */
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
  return `server_name: ${node.name}
listen: "127.0.0.1:${node.port}"
http: "127.0.0.1:${node.monitorPort}"
max_payload: 1MB
jetstream {
  store_dir: "${node.storeDir}"
  max_file_store: ${node.maxFileStoreMb}MB
  ${node.sync === 'always' ? 'sync_interval: always' : ''}
}
system_account: SYS
accounts {
  SYS {
    users: [{ user: system, password: system }]
    exports: [{ service: "$SYS.REQ.SERVER.PING.JSZ", response: Stream }]
  }
  MILLRACE {
    jetstream: enabled
    users: [${node.nkey === undefined ? '{ user: millrace, password: millrace }' : `{ nkey: ${node.nkey} }`}]
    imports: [{ service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ" } }]
  }
}
${node.nkey === undefined ? 'no_auth_user: millrace' : ''}
${tlsBlock(node)}${clusterBlock(node)}`;
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
  const routes = node.clusterPorts.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  return `cluster {
  name: millrace
  listen: "127.0.0.1:${node.clusterPort}"
  routes: [${routes}]
}
`;
}
