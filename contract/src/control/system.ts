/** The installation as its operator sees it. */
import { type Static, Type } from 'typebox';
import { Time } from './page.ts';

const Count = Type.Integer({ minimum: 0 });
const Text = Type.Union([Type.String(), Type.Null()]);

const stored = {
  name: Type.String(),
  messages: Count,
  bytes: Count,
  /** Null for a stream without a limit. */
  maxBytes: Type.Union([Count, Type.Null()]),
  /** From 0 to 1. */
  fill: Type.Union([Type.Number(), Type.Null()]),
  /** The name of the NATS server that leads it; null while an election goes on. */
  leader: Text,
  replicas: Count,
  /** Replicas beside the leader that are offline or behind. */
  laggingReplicas: Count,
};

export const StreamStatus = Type.Object(stored);

export const System = Type.Object({
  at: Time,
  versions: Type.Object({
    millrace: Type.String(),
    node: Type.String(),
    nats: Text,
    postgres: Type.String(),
  }),
  /** The control process that answers; its settings with secrets masked. */
  process: Type.Object({
    roles: Type.Array(Type.String()),
    startedAt: Time,
    settings: Type.Array(Type.Object({ name: Type.String(), value: Type.String(), isDefault: Type.Boolean() })),
  }),
  /** Deliver processes heard within the last seconds; null when the NATS user of control may not listen to them. */
  deliverProcesses: Type.Union([Type.Array(Type.Object({ id: Type.String(), version: Text })), Type.Null()]),
  /** Processes of all roles heard within the last seconds, at most 1,000; null when the NATS user of control may not listen to them. */
  processes: Type.Union([
    Type.Array(
      Type.Object({ id: Type.String(), roles: Type.Array(Type.String()), version: Type.String(), startedAt: Time }),
    ),
    Type.Null(),
  ]),
  nats: Type.Object({
    isReachable: Type.Boolean(),
    /** Both null when NATS does not answer. */
    streams: Type.Union([Type.Array(StreamStatus), Type.Null()]),
    buckets: Type.Union([Type.Array(StreamStatus), Type.Null()]),
  }),
  /** Lanes of all workspaces that hold something. */
  lanes: Type.Object({
    inUse: Count,
    deliveries: Count,
    bytes: Count,
    byState: Type.Record(Type.String(), Count),
  }),
  postgres: Type.Object({ isReachable: Type.Boolean(), answeredInMs: Type.Number(), bytes: Count }),
});
export type System = Static<typeof System>;
