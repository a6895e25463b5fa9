import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { TimeText } from '../../parts/texts.tsx';
import { duration } from '../../format/times.ts';
import { retryTimes, WINDOW_MS } from './retry-times.ts';

const SHOWN = 8;

/** The retry schedule as clock times, for a delivery whose first attempt would fail now. */
export function RetryCard() {
  const [firstAt] = useState(() => Date.now());
  const [isWhole, setIsWhole] = useState(false);
  const retries = retryTimes();
  return (
    <Card title="Retries" aside="the same for every destination">
      <p className="pad soft">
        A receiver has 5 seconds to answer. Were the first attempt of a delivery to fail at <TimeText at={firstAt} />,
        Millrace would try it again at these times, each later by up to a tenth, and give it up at{' '}
        <TimeText at={firstAt + WINDOW_MS} />. Retry-After in an answer moves an attempt later.
      </p>
      <table>
        <thead>
          <tr>
            <th>Attempt</th>
            <th className="num">after</th>
            <th className="num">at</th>
          </tr>
        </thead>
        <tbody>
          {retries.slice(0, isWhole ? retries.length : SHOWN).map(({ attempt, waitMs, sinceFirstMs }) => (
            <tr key={attempt}>
              <td>{attempt}</td>
              <td className="num">{duration(waitMs)}</td>
              <td className="num">
                <TimeText at={firstAt + sinceFirstMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="pad">
        <Button small look="quiet" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${retries.length} retries`}
        </Button>
      </div>
    </Card>
  );
}
