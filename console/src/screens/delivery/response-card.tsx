import { useMay } from '../../api/session.tsx';
import { bytes } from '../../format/numbers.ts';
import { hostOf, visible } from '../../format/texts.ts';
import { Card } from '../../parts/card.tsx';
import { Code } from '../../parts/code.tsx';
import { StateBadge } from '../../parts/state-mark.tsx';
import { answerState } from '../../parts/delivery/attempt-phases.ts';
import { statusName } from './status-names.ts';
import type { Chosen } from './use-chosen.ts';

export function ResponseCard({ chosen, isErased }: { chosen: Chosen; isErased: boolean }) {
  const maySee = useMay('payloads:read');
  const { answer } = chosen;
  if (answer === undefined || answer.status === undefined) return null;
  const body = answer.body ?? '';
  const size = new TextEncoder().encode(body).length;
  return (
    <Card
      title={`Response of ${visible(hostOf(answer.url)).slice(0, 60)}`}
      aside={size === 0 ? undefined : `${bytes(size)}, the first 16 KiB are kept`}
      right={
        <StateBadge state={answerState(answer)}>
          {answer.status} {statusName(answer.status)}
        </StateBadge>
      }
    >
      <div className="pad">
        {size > 0 ? (
          <Code text={body} label="response body" />
        ) : (
          <p className="dim">
            {maySee
              ? isErased
                ? 'Millrace no longer keeps the body: the user was erased.'
                : answer.events === undefined
                  ? 'The response had no body.'
                  : `Millrace keeps no body of a response to several events, here ${answer.events}.`
              : 'Your role sees no payloads: the body of the response is not shown.'}
          </p>
        )}
      </div>
    </Card>
  );
}
