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
    users: [{ user: millrace, password: millrace }]
    imports: [{ service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ" } }]
  }
}
no_auth_user: millrace
${clusterBlock(node)}`;
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
