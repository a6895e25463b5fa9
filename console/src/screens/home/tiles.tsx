import type { Overview } from '@millrace/contract/control';
import { count, percent, short } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { type Tile, Tiles } from '../../parts/card.tsx';
import type { OutcomePoint } from '../../parts/chart/outcome-chart.tsx';
import { OuterLink } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';
import { countStates, firstOfEach } from './attention.ts';

type HomeTilesProps = {
  overview: Overview;
  destinations: number | undefined;
  names: ReadonlyMap<string, string>;
  /** The deliveries of the chosen range; undefined until they are read. */
  points: readonly OutcomePoint[] | undefined;
  rangeName: string;
};

export function HomeTiles({ overview, destinations, names, points, rangeName }: HomeTilesProps) {
  const now = useNow(1_000);
  const { tiles, attention } = overview;
  const { callsPerMinute, oldestWaiting } = tiles;
  const troubled = firstOfEach(attention).filter(({ destinationId }) => destinationId !== undefined).length;
  const [oldest = '–', ...unit] =
    oldestWaiting === null ? [] : duration(now - Date.parse(oldestWaiting.receivedAt)).split(/\s/);
  const dayAgo = callsPerMinute.dayAgo;
  return (
    <Tiles
      label="Figures"
      tiles={[
        {
          name: 'Calls accepted',
          value: callsPerMinute.now === null ? '–' : short(Math.round(callsPerMinute.now)),
          unit: callsPerMinute.now === null ? 'still counting' : 'a minute',
          detail: dayAgo === 0 ? 'none at this time yesterday' : `${short(Math.round(dayAgo))} at this time yesterday`,
        },
        deliveredTile(points, rangeName),
        {
          name: 'Destinations',
          value: count(troubled),
          unit: destinations === undefined ? 'need attention' : `of ${count(destinations)} need attention`,
          detail: countStates(attention) || 'none fails, none has a backlog',
        },
        {
          name: 'Oldest waiting',
          value: oldest,
          unit: unit.join('\u00a0') || '\u00a0',
          detail:
            oldestWaiting === null ? (
              'nothing waits'
            ) : (
              <OuterLink
                to="/deliveries/$id"
                params={{ id: oldestWaiting.deliveryId }}
                text={names.get(oldestWaiting.destinationId) ?? oldestWaiting.destinationId}
                most={40}
              />
            ),
        },
      ]}
    />
  );
}

function deliveredTile(points: readonly OutcomePoint[] | undefined, rangeName: string): Tile {
  const name = 'Delivered';
  if (points === undefined) return { name, value: '–', unit: `in ${rangeName}`, detail: 'not read yet' };
  const delivered = points.reduce((sum, point) => sum + point.delivered, 0);
  const givenUp = points.reduce((sum, point) => sum + point.discarded + point.expired, 0);
  const ended = delivered + givenUp;
  if (ended === 0) return { name, value: '–', unit: `in ${rangeName}`, detail: 'nothing was delivered or given up' };
  return {
    name,
    value: percent(delivered / ended),
    unit: `% in ${rangeName}`,
    detail: `${count(delivered)} delivered · ${count(givenUp)} given up`,
  };
}
