/** Wires `millrace listen`: where events come from, where they are shown, and where they are sent on. */
import process from 'node:process';
import type { AcceptedEvent } from '@millrace/contract';
import { type Forwarder, openForwarder } from '@millrace/server/forward';
import { LOOPBACK_SOURCE_ID } from '@millrace/server/loopback';
import { EXIT_CODES } from '../output/exit-codes.ts';
import { canView, openView, type View } from '../view/open-view.ts';
import type { CallEntry, NewEntry } from './entry.ts';
import { forwardStatus } from './entry-row.ts';
import { findRemote, type FoundRemote } from './find-remote.ts';
import { followSource } from './follow-source.ts';
import { type ForwardQueue, openForwardQueue } from './forward-queue.ts';
import { introduce } from './introduce.ts';
import { type ListenOptions, type Plan, readPlan } from './read-plan.ts';
import { serveLoopback } from './serve-loopback.ts';
import { openEntries } from './show-entries.ts';
import { openStop, type Stop } from './stop.ts';

export type { ListenOptions };

export async function listen(options: ListenOptions): Promise<void> {
  const plan = readPlan(options);
  const remote = plan.remote === undefined ? undefined : await findRemote(plan.remote);
  using view =
    plan.output === 'view' && canView() ? openView({ header: { title: 'millrace listen', lines: [] } }) : undefined;
  using stop = openStop(view);
  const parts: Parts = { plan, view, stop, show: (entry) => show(entry), queue: undefined, collectUrl: undefined };
  const resend = plan.forward === undefined ? undefined : (entry: CallEntry) => sendAgain(entry, parts.queue);
  await using entries = await openEntries({
    output: plan.output,
    record: plan.record,
    view,
    actions: { resend, collectUrl: () => parts.collectUrl },
  });
  const count = openCount(plan, stop);
  const show = (entry: NewEntry) => {
    const id = entries.show(entry);
    count(entry);
    return id;
  };
  const forwarder = openPlanned(plan, remote);
  await using queue = forwarder === undefined ? undefined : openForwardQueue({ forwarder, show });
  parts.queue = queue;
  await (remote === undefined ? collectHere(parts) : followThere(parts, remote));
  if ((await stop.stopped) === 'interrupted') process.exitCode = EXIT_CODES.interrupted.code;
}

type Parts = {
  plan: Plan;
  show(entry: NewEntry): number;
  queue: ForwardQueue | undefined;
  view: View | undefined;
  stop: Stop;
  collectUrl: string | undefined;
};

async function collectHere(parts: Parts): Promise<void> {
  const { plan, show, queue, view, stop } = parts;
  const { port, writeKey, secret, fail, delayMs, allowedOrigins } = plan;
  await using server = await serveLoopback({
    settings: { host: '127.0.0.1', port, writeKey, secret, fail, delayMs, allowedOrigins },
    show,
    hasRoom: (events) => queue?.hasRoom(events) ?? true,
    accepted: (event, of) => queue?.add(event, of),
    random: Math.random,
  });
  parts.collectUrl = `http://127.0.0.1:${server.port}`;
  introduce(plan, { kind: 'here', url: parts.collectUrl }, view);
  await stop.stopped;
}

/** The next page is read when fewer events than these wait for a slow receiver. */
const MOST_AHEAD = 500;

async function followThere({ plan, show, queue, view, stop }: Parts, remote: FoundRemote): Promise<void> {
  const { control, source } = remote;
  const sinceMs = plan.remote?.sinceMs;
  const takeOne = (event: AcceptedEvent) => {
    const bytes = Buffer.byteLength(JSON.stringify(event));
    const of = show({ kind: 'call', event, bytes, isRepeat: false });
    queue?.add(event, of);
  };
  const following = followSource({
    control,
    sourceId: source.id,
    from: sinceMs === undefined ? undefined : new Date(Date.now() - sinceMs),
    async take(events) {
      for (const event of events) if (!stop.signal.aborted) takeOne(event);
      await queue?.below(MOST_AHEAD);
    },
    tell: (text, isProblem) => void show({ kind: 'note', isProblem, text }),
    ready: () => introduce(plan, { kind: 'there', remote }, view),
    signal: stop.signal,
  });
  // Without its own end, following ends only by a refusal, which is thrown here.
  await Promise.race([following, stop.stopped]);
  await following;
}

function openPlanned({ forward, body }: Plan, remote: FoundRemote | undefined): Forwarder | undefined {
  if (forward === undefined) return undefined;
  const { destination, source, blockedEvents = [] } = remote ?? {};
  const sourceId = source?.id ?? LOOPBACK_SOURCE_ID;
  const { url, headers, secret } = forward;
  return openForwarder({
    settings: {
      targets: [{ url, headers }],
      sharedSecret: secret,
      bodyFormat: body ?? destination?.bodyFormat ?? 'documented',
    },
    destination: {
      id: destination?.id ?? 'dst_listen',
      sourceId,
      catalog: destination?.catalog ?? 'Webhooks',
      ...(destination?.filters === undefined ? {} : { filters: destination.filters }),
    },
    blockedEvents,
  });
}

async function sendAgain(entry: CallEntry, queue: ForwardQueue | undefined): Promise<string> {
  const forwarded = await queue?.resend(entry.event, entry.id);
  return forwarded === undefined ? 'Nothing is forwarded.' : `Sent again: ${forwardStatus(forwarded)}`;
}

/** Stops after `--count`: forwarded events where events are forwarded, else calls and webhooks. */
function openCount({ count, forward }: Plan, stop: Stop): (entry: NewEntry) => void {
  const counted = new Set(forward === undefined ? ['call', 'refused', 'webhook'] : ['forwarded', 'skipped', 'webhook']);
  let left = count;
  return ({ kind }) => {
    if (!counted.has(kind)) return;
    left -= 1;
    if (left === 0) stop.end();
  };
}
