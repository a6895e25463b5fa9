/** The live tail as a full-screen view: one row for each call, with the latest outcome of each destination. */
import { clockMs } from '@millrace/console/format/times';
import { standingOf } from '@millrace/console/format/standings';
import type { TailItem } from '../../api/tail.ts';
import { curlCommand } from '../../listen/curl-command.ts';
import type { View } from '../../view/open-view.ts';
import { type Row, type Section, sizeText, type Tone } from '../../view/row.ts';

type CallItem = Extract<TailItem, { kind: 'accepted' | 'refused' }>;
type OutcomeItem = Extract<TailItem, { kind: 'outcome' }>;
type Shown = { id: number; item: CallItem | OutcomeItem; outcomes: Map<string, OutcomeItem> };

export type TailViewNeeds = {
  view: Pick<View, 'show' | 'setHeader'>;
  source: string;
  /** Names of destinations by their ids. */
  names: ReadonlyMap<string, string>;
  /** The address of the collection API, for commands that send a call again. */
  collect: string;
};

/** As many calls as the view keeps. */
const MAX_REMEMBERED = 5_000;

/** Takes the items of the tail as they come. */
export function openTailView(needs: TailViewNeeds): (item: TailItem) => void {
  const byMessage = new Map<string, Shown>();
  let last = 0;
  const tell = (state: string) => needs.view.setHeader({ title: `millrace tail  ${needs.source}`, lines: [state] });

  function add(item: CallItem | OutcomeItem): void {
    last += 1;
    const shown: Shown = { id: last, item, outcomes: new Map() };
    if (item.kind === 'accepted' && item.messageId !== undefined) {
      const [oldest] = byMessage.size >= MAX_REMEMBERED ? byMessage.keys() : [];
      if (oldest !== undefined) byMessage.delete(oldest);
      byMessage.set(item.messageId, shown);
    }
    needs.view.show(rowOf(shown, needs));
  }

  return (item) => {
    switch (item.kind) {
      case 'accepted':
      case 'refused':
        return add(item);
      case 'outcome': {
        const shown = item.messageId === undefined ? undefined : byMessage.get(item.messageId);
        if (shown === undefined) return add(item);
        shown.outcomes.set(item.destinationId, item);
        return needs.view.show(rowOf(shown, needs));
      }
      case 'open':
        return tell(`connected, at most ${item.maxPerSecond} events a second are shown`);
      case 'connected':
        return item.isAgain ? tell('connected again; calls in between are stored, and not shown here') : undefined;
      case 'lost':
        return tell(`not connected: ${item.why}; next try in ${Math.ceil(item.waitMs / 1_000)} s`);
      case 'sampled':
        return tell(
          `sampled: ${item.leftOut} events of the last second are not shown; narrow it with --type, --event or --user`,
        );
    }
  };
}

function rowOf({ id, item, outcomes }: Shown, { names, collect }: TailViewNeeds): Row {
  const call = item.kind === 'accepted' && item.call !== undefined ? JSON.stringify(item.call) : undefined;
  const told = item.kind === 'outcome' ? [item] : [...outcomes.values()];
  const texts = told.map((outcome) => outcomeText(outcome, names));
  const status = item.kind === 'refused' ? `REFUSED ${item.code}: ${item.message}` : ['ok', ...texts].join('  → ');
  const cells = {
    time: clockMs(item.at),
    type: item.type ?? '?',
    name: item.name ?? '',
    user: item.userId ?? item.anonymousId ?? '',
    size: call === undefined ? '' : sizeText(Buffer.byteLength(call)),
    status: item.kind === 'outcome' ? `→ ${texts.join('')}` : status,
  };
  const row: Row = {
    id,
    cells,
    tone: toneOf(item, told),
    bytes: 1_000 + 4 * (call?.length ?? 0),
    details: () => sections(item, told, names),
  };
  if (call !== undefined) {
    const url = `${collect}/v1/${item.type ?? 'track'}`;
    row.curl = () => curlCommand({ url, headers: [], keyVariable: 'MILLRACE_WRITE_KEY', body: call });
  }
  return row;
}

function outcomeText(item: OutcomeItem, names: ReadonlyMap<string, string>): string {
  const why = item.why === undefined || item.why.length === 0 ? '' : ` (${item.why.join(', ')})`;
  const next = item.nextAt === undefined ? '' : `, next attempt ${clockMs(item.nextAt)}`;
  return `${names.get(item.destinationId) ?? item.destinationId}: ${standingOf(item.outcome).word}${why}${next}`;
}

/** The worst of the outcomes decides. */
function toneOf(item: CallItem | OutcomeItem, outcomes: readonly OutcomeItem[]): Tone {
  if (item.kind === 'refused') return 'bad';
  const states = new Set(outcomes.map(({ outcome }) => standingOf(outcome).state));
  if (states.has('givenup') || states.has('refused')) return 'bad';
  if (states.has('retrying') || states.has('waiting') || states.has('paused')) return 'warn';
  return 'good';
}

function sections(
  item: CallItem | OutcomeItem,
  outcomes: readonly OutcomeItem[],
  names: ReadonlyMap<string, string>,
): Section[] {
  const delivered = outcomes.flatMap((outcome) => [
    outcomeText(outcome, names),
    `  ${outcome.deliveryId}${outcome.attempt === undefined ? '' : `, attempt ${outcome.attempt}`}, ${outcome.at}`,
  ]);
  const about = [`received ${item.at}`, ...(item.messageId === undefined ? [] : [`messageId ${item.messageId}`])];
  const refused: Section[] =
    item.kind === 'refused' ? [{ title: 'Refused', lines: [item.message, `code: ${item.code}`], tone: 'bad' }] : [];
  const call =
    item.kind === 'accepted'
      ? item.call === undefined
        ? ['(larger than the tail shows)']
        : JSON.stringify(item.call, null, 2).split('\n')
      : [];
  return [
    ...refused,
    { title: 'Call', lines: about },
    ...(delivered.length === 0 ? [] : [{ title: 'Destinations', lines: delivered }]),
    ...(call.length === 0 ? [] : [{ title: 'Body', lines: call }]),
  ];
}
