import type { Destination } from '@millrace/contract/control';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { StateBadge } from '../../parts/state-mark.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { healthOf } from './first-health.ts';
import { useFirstHealth } from './use-first-health.ts';

type EnableStepProps = { saved: Destination; sourceName: string; isChanged: boolean; isBusy: boolean; enable(): void };

export function EnableStep({ saved, sourceName, isChanged, isBusy, enable }: EnableStepProps) {
  const first = healthOf(useFirstHealth(saved));
  return (
    <Card title="6. Enable">
      <div className="pad btns">
        {saved.enabled ? (
          <>
            <span role="status">
              <StateBadge state={first.state}>{first.words.replace(/\.$/, '')}</StateBadge>
            </span>
            <span className="soft">{first.rest}</span>
            <LinkButton look={isChanged ? 'plain' : 'ink'} to="/destinations/$id" params={{ id: saved.id }}>
              Open the destination
            </LinkButton>
          </>
        ) : (
          <>
            <span className="soft">
              From then on it gets each new event of <OuterText text={sourceName} most={40} /> that passes. Older events
              are not sent; a replay can do that later.
            </span>
            <Button look={isChanged ? 'plain' : 'ink'} disabled={isChanged} isBusy={isBusy} onClick={enable}>
              Enable
            </Button>
          </>
        )}
      </div>
    </Card>
  );
}
