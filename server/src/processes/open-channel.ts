import type { MetricsNeeds, MetricsServer } from '../metrics/serve-metrics.ts';
import type { Answer, Told, EndOrder, Order, Asked } from './talk.ts';

/** The side of a child: it does as its supervisor orders, and answers its questions instead of serving a port for metrics. */
export type Channel = Disposable & {
  /** Resolves when the supervisor wants this process to end. */
  ordered: Promise<EndOrder>;
  /** In place of `serveMetrics`. */
  serve(needs: MetricsNeeds): Promise<MetricsServer>;
  /** Collect and deliver have started; `tellReady`: all roles have. */
  tellServes(): void;
  tellReady(): void;
};

/** systemd and terminals send these to all processes of a service at once. The supervisor gets them too, and decides. */
const SIGNALS_OF_SUPERVISOR = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** `drainMs`: how long this process drains. */
export function openChannel(drainMs: number): Channel {
  const { promise: ordered, resolve } = Promise.withResolvers<EndOrder>();
  let needs: MetricsNeeds | undefined;
  const hear = (order: Order) => {
    if (order.kind === 'stop' || order.kind === 'retire') resolve(order.kind);
    else if (order.kind === 'ask' && needs !== undefined) void answer(order, needs);
  };
  for (const signal of SIGNALS_OF_SUPERVISOR) process.on(signal, () => undefined);
  process.on('message', hear);
  return {
    ordered,
    async serve(given) {
      needs = given;
      tell({ kind: 'answers', drainMs });
      return { port: undefined, [Symbol.asyncDispose]: async () => void (needs = undefined) };
    },
    tellServes: () => tell({ kind: 'serves' }),
    tellReady: () => tell({ kind: 'ready' }),
    [Symbol.dispose]: () => void process.off('message', hear),
  };
}

async function answer({ id, what }: { id: number; what: Asked }, needs: MetricsNeeds): Promise<void> {
  try {
    tell({ kind: 'answer', id, ...(await answerTo(what, needs)) });
  } catch (error) {
    needs.log.error({ error: error instanceof Error ? error.stack : String(error) }, 'metrics.failed');
    tell({ kind: 'answer', id });
  }
}

async function answerTo(what: Asked, { metrics, look }: MetricsNeeds): Promise<Answer> {
  if (what === 'metrics') return { metrics: await metrics.text() };
  return { readiness: await look() };
}

/** Node ends a child whose supervisor is gone, so nothing is to be done about a message that does not arrive. */
function tell(message: Told): void {
  process.send?.(message, undefined, undefined, () => undefined);
}
