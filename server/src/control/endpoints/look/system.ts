import { System } from '@millrace/contract/control';
import type { LaneHealth } from '../../../domain/lane-health.ts';
import { readDatabaseFacts } from '../../../store/database-facts.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { mustBeOperator } from '../../http/operator.ts';
import { engineRoute, type Route } from '../../http/route.ts';

const BUCKET = 'KV_';

export const systemRoutes: Route[] = [
  engineRoute({
    method: 'GET',
    url: '/api/v1/system',
    summary: 'The installation: streams, buckets, lanes, processes, PostgreSQL, settings; for the operator',
    answer: System,
    permission: 'system:read',
    status: 200,
    async ask({ actor }, needs) {
      await mustBeOperator(actor, needs);
      const { side, store, lanes, now, about } = needs;
      const startedAt = performance.now();
      const database = await store.asSystem(readDatabaseFacts);
      const answeredInMs = Math.round(performance.now() - startedAt);
      const nats = await readNats(needs);
      return {
        at: now().toISOString(),
        versions: {
          millrace: about?.version ?? '',
          node: process.version,
          nats: nats.isReachable ? side.serverVersion() : null,
          postgres: database.version,
        },
        process: {
          roles: about?.roles ?? [],
          startedAt: (about?.startedAt ?? now()).toISOString(),
          settings: about?.settings ?? [],
        },
        deliverProcesses: side.deliverProcesses()?.map(({ id, version }) => ({ id, version })) ?? null,
        processes: side.processes() ?? null,
        nats,
        lanes: addUpLanes(lanes?.all() ?? []),
        postgres: { isReachable: true, answeredInMs, bytes: database.bytes },
      };
    },
  }),
];

/** An operator asks most often when something is wrong, so the answer comes without NATS too. */
async function readNats({ side, log }: ControlNeeds): Promise<System['nats']> {
  try {
    const all = await side.describeStreams();
    const streams = all.filter(({ name }) => !name.startsWith(BUCKET));
    const buckets = all.filter(({ name }) => name.startsWith(BUCKET));
    return {
      isReachable: true,
      streams,
      buckets: buckets.map(({ name, ...rest }) => ({ name: name.slice(BUCKET.length), ...rest })),
    };
  } catch (error) {
    log.warn({ error: String(error) }, 'streams.not_described');
    return { isReachable: false, streams: null, buckets: null };
  }
}

function addUpLanes(lanes: Iterable<LaneHealth>): System['lanes'] {
  const sum = { inUse: 0, deliveries: 0, bytes: 0, byState: {} as Record<string, number> };
  for (const { state, depth, bytes } of lanes) {
    sum.inUse += 1;
    sum.deliveries += depth;
    sum.bytes += bytes;
    sum.byState[state] = (sum.byState[state] ?? 0) + 1;
  }
  return sum;
}
