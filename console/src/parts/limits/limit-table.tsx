import type { LimitUse } from '@millrace/contract/control';
import { Button } from '../button.tsx';
import { StateText } from '../state-mark.tsx';
import { amount, STATE_NAMES, STATE_WORDS } from './limit-words.ts';

/** Every limit with its use. With `change` each has a button that calls it. */
export function LimitTable({ limits, change }: { limits: readonly LimitUse[]; change?: (limit: LimitUse) => void }) {
  return (
    <table className="folds">
      <thead>
        <tr>
          <th>Limit</th>
          <th className="num">Used</th>
          <th className="num">Allowed</th>
          <th>State</th>
          {change !== undefined && (
            <th>
              <span className="sr">Change</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {limits.map((limit) => (
          <tr key={limit.name}>
            <td>{limit.title}</td>
            <td className="num" data-label="Used">
              {limit.used === null ? <span className="dim">not known</span> : amount(limit.used, limit)}
            </td>
            <td className="num" data-label="Allowed">
              {limit.limit === null ? <span className="dim">its share</span> : amount(limit.limit, limit)}
              {limit.isOwn && <span className="sub">of its own</span>}
            </td>
            <td data-label="State">
              <StateText state={STATE_NAMES[limit.state]}>{STATE_WORDS[limit.state]}</StateText>
            </td>
            {change !== undefined && (
              <td className="num">
                <Button small onClick={() => change(limit)}>
                  Change<span className="sr"> {limit.title}</span>
                </Button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
