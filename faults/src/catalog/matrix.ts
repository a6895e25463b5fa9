/** What can go wrong, row by row. Each row has a fault in the catalog, or a test that injects it with real engines. */
export const MATRIX = {
  'collect-killed': 'collect is killed',
  'deliver-killed': 'deliver is killed, between any two of its steps',
  'recorder-killed': 'control is killed, and with it the recorder',
  'compute-killed': 'compute is killed',
  'leader-killed': 'the NATS server that leads a stream of events, lanes or tickets is killed',
  'outcomes-leader-killed': 'the NATS server that leads a stream of outcomes is killed',
  'all-servers-killed': 'all NATS servers are killed at once',
  'nats-gone': 'NATS is away, or stands still with its sockets open',
  'server-silent': 'one of three NATS servers stands still',
  'server-joins': 'a NATS server joins the cluster under load',
  'network-cut': 'NATS servers are cut off from each other',
  'network-bad': 'the network between our processes and the engines is slow, or resets connections',
  'nats-disk-full': 'the disk under NATS is full',
  'power-lost': 'the power goes, and with it what was not synced to disk',
  'clocks-wrong': 'clocks are behind, ahead, and set while processes run',
  'receivers-drip': 'receivers drip their answers byte by byte',
  'receivers-hang': 'very many receivers never answer',
  'receivers-hostile': 'receivers answer with floods, bombs, garbage and resets',
  'backlog-large': 'one receiver is down until its backlog is large',
  'host-hot': 'many workspaces send to one host',
  'retry-storm': 'all receivers fail for long, and their retries fall due together',
  'tenant-greedy': 'one workspace uses all of everything that it may have',
  'database-killed': 'PostgreSQL is killed and comes back',
  'database-slow': 'PostgreSQL answers slowly: its tables are locked',
  'database-full': 'the disk under PostgreSQL is full',
  'database-read-only': 'PostgreSQL is read-only, as after a failover',
  'database-deadlocks': 'PostgreSQL breaks deadlocks by ending our transactions',
  'restart-rolling': 'processes are asked to leave, one after the other, under load',
  'versions-mixed': 'two versions run side by side, on the way up and on the way back',
  'backup-restored': 'everything is lost, and restored from a backup',
  'cell-lost': 'all servers of a cell are lost',
  'source-moved': 'a source moves to another cell under load',
  'sockets-slow': 'thousands of clients send their headers byte by byte',
  'sign-in-guessed': 'passwords are guessed from many addresses',
  'messages-poisoned': 'unreadable messages of every kind are in every stream',
  'config-churn': 'destinations change, are paused and deleted while deliveries are under way',
  'keys-rotated': 'the key ring is rotated while people read and write',
  'credentials-revoked': 'NATS no longer accepts our credentials, and accepts them again',
  'deliver-asleep': 'deliver stands still for longer than the lease of its lanes',
  'recorder-asleep': 'control stands still for longer than the ack wait of its outcomes',
  'collect-asleep': 'collect stands still, with requests of clients under way',
  'compute-asleep': 'compute stands still until another process has its streams',
  'memory-limit': 'the kernel ends a process that reaches its memory limit',
  'descriptors-out': 'a process has no file descriptors left',
  'retry-window': 'a receiver fails for the whole of the retry window',
  'compute-behind': 'nothing computes until the streams are full',
} as const;

export type Row = keyof typeof MATRIX;

/** Rows that an integration test injects with real engines and calls under way: a fault of the suite would show nothing more. */
export const TESTED: Partial<Record<Row, { file: string; test: string }>> = {
  'host-hot': {
    file: 'server/src/deliver/host-cap.integration.test.ts',
    test: 'gets no more attempts at a time than its cap, and every delivery arrives once',
  },
  'keys-rotated': {
    file: 'server/src/control/keys/rotate-ring.integration.test.ts',
    test: 'rotates while people read and write, without one failed request',
  },
  'retry-window': {
    file: 'server/src/deliver/lanes.integration.test.ts',
    test: 'gives up at the end of the window, and the dead letter tells the whole story',
  },
};

/** Rows that nothing injects yet, with the reason. */
export const OPEN: Partial<Record<Row, string>> = {
};
