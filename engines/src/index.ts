export { freePorts } from './free-ports.ts';
export { ENGINES_DIR, natsServerBinary, ROOT_DIR } from './paths.ts';
export { startNatsCluster } from './nats-cluster.ts';
export type { NatsCluster, NatsNode } from './nats-cluster.ts';
export { COMPILER, keepBuilt, runGo } from './run-go.ts';
export { startPostgresServer } from './postgres-server.ts';
export type { PostgresOptions, PostgresServer } from './postgres-server.ts';
export { checkOutVersion } from './other-version.ts';
export type { OtherVersion } from './other-version.ts';
