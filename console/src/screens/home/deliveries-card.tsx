import type { Attention } from '@millrace/contract/control';
import { cutText, visible } from '../../format/texts.ts';
import { moment } from '../../format/times.ts';
import { Card } from '../../parts/card.tsx';
import { useOutcomeChart } from '../../parts/chart/outcome-chart.tsx';
import type { Flag } from '../../parts/chart/time-series.tsx';
import { useRange } from '../../parts/range-switch.tsx';
import { LOOKS, splitAtName } from './attention.ts';
import type { Deliveries } from './use-deliveries.ts';

const DAY_MS = 86_400_000;
const FLAGGED: ReadonlySet<string> = new Set(['destination_failing', 'destination_paused', 'destination_backlog']);

type DeliveriesCardProps = { deliveries: Deliveries; attention: readonly Attention[] };

export function DeliveriesCard({ deliveries, attention }: DeliveriesCardProps) {
  const { words } = useRange();
  const { points, from, to, step } = deliveries;
  const { legend, chart } = useOutcomeChart({ points, from, to, step, flags: flagsOf(attention, deliveries) });
  return (
    <Card title={`Deliveries, ${words}`} right={legend} isOpen>
      {points.length === 0 ? (
        <p className="pad soft">No delivery ended in the {words}. Each one that does is counted here by its outcome.</p>
      ) : (
        chart
      )}
    </Card>
  );
}

/** Troubles that began in the time of the chart, written into it: the words of a second one beside another would cover it. */
function flagsOf(attention: readonly Attention[], { from, to }: Deliveries): Flag[] {
  const roomS = (Date.parse(to) - Date.parse(from)) / 3_000;
  const flags = attention
    .filter(({ kind, since = '' }) => FLAGGED.has(kind) && since >= from)
    .map(({ since = '', kind, sentence }) => {
      const at = new Date(since);
      const clock = moment(at, to).replace(/:\d\d$/, (end) => (Date.parse(to) - at.getTime() < DAY_MS ? '' : end));
      const name = cutText(visible(splitAtName(sentence, undefined)[1]), 24);
      return { at: at.getTime() / 1_000, words: `${clock} ${name} ${LOOKS[kind].words}` };
    })
    .slice(0, 3);
  return flags.map((flag, place) =>
    flags.slice(0, place).some(({ at }) => Math.abs(at - flag.at) < roomS) ? { ...flag, words: '' } : flag,
  );
}
