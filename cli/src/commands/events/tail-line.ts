/** A line of the live tail. Pure but for the colours. */
import { clockMs } from '@millrace/console/format/times';
import { standingOf } from '@millrace/console/format/standings';
import type { TailItem } from '../../api/tail.ts';
import { inline, styled } from '../../output/print.ts';
import { stateStyle } from '../../output/states.ts';
import { cutTo, widthOf } from '../../output/width.ts';

type Shown = Extract<TailItem, { kind: 'accepted' | 'refused' | 'outcome' }>;

export function tailLine(item: TailItem, names: ReadonlyMap<string, string>): string {
  if (item.kind !== 'accepted' && item.kind !== 'refused' && item.kind !== 'outcome') return '';
  const time = styled('dim', clockMs(item.at));
  if (item.kind === 'outcome') return `${time}  ${outcomeText(item, names)}`;
  const type = (item.type ?? '?').padEnd(8);
  const about = `${inline(type)}  ${column(item.name ?? '', 28)}  ${column(item.userId ?? item.anonymousId ?? '', 20)}`;
  if (item.kind === 'accepted') return `${time}  ${about}  ${styled('dim', inline(item.messageId ?? ''))}`.trimEnd();
  return `${time}  ${about}  ${styled('red', `REFUSED ${inline(item.code)}: ${inline(item.message)}`)}`;
}

function outcomeText(item: Extract<Shown, { kind: 'outcome' }>, names: ReadonlyMap<string, string>): string {
  const { state, word } = standingOf(item.outcome);
  const name = inline(names.get(item.destinationId) ?? item.destinationId);
  const why = item.why === undefined || item.why.length === 0 ? '' : ` (${inline(item.why.join(', '))})`;
  const next = item.nextAt === undefined ? '' : `, next attempt ${clockMs(item.nextAt)}`;
  return `  → ${name}: ${styled(stateStyle(state), `${word}${why}${next}`)}  ${styled('dim', inline(item.deliveryId))}`;
}

function column(text: string, width: number): string {
  const cut = cutTo(inline(text), width);
  return cut + ' '.repeat(Math.max(0, width - widthOf(cut)));
}
