import type { Destination, TargetErrors } from '@millrace/contract/control';
import { shortWords } from '../../format/codes.ts';
import { counted } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { TimeText, UrlText } from '../../parts/texts.tsx';
import { needsAllTargets, targetsOf } from '../../parts/destination/health/destination-facts.ts';
import styles from './destination.module.css';
import { latestError } from '../../parts/destination/health/tell-health.ts';

export function TargetsCard({ destination, errors }: { destination: Destination; errors: TargetErrors | undefined }) {
  const targets = targetsOf(destination);
  const aside = targets.length < 2 ? undefined : needsAllTargets(destination) ? 'all are needed' : 'any one is enough';
  return (
    <Card title={targets.length === 1 ? 'Target' : 'Targets'} {...(aside === undefined ? {} : { aside })}>
      <ul className={styles['targets']}>
        {targets.map(({ url }) => (
          <li key={url}>
            <b>
              <UrlText url={url} most={80} />
            </b>
            <TargetState target={errors?.targets.find((target) => target.url === url)} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function TargetState({ target }: { target: TargetErrors['targets'][number] | undefined }) {
  if (target === undefined) return <StateText state="skipped">No POST in the last 24 hours</StateText>;
  const error = target.isFailing ? latestError(target) : undefined;
  if (error === undefined) {
    return (
      <div>
        <StateText state="delivered">Takes deliveries</StateText>{' '}
        <span className="small dim">
          · {counted(target.posts, 'POST')}, the last at <TimeText at={target.lastAt} />
        </span>
      </div>
    );
  }
  return (
    <div>
      <StateText state="givenup">{shortWords(error.errorClass)}</StateText>{' '}
      <span className="small dim">
        · since <TimeText at={error.firstAt} />, last at <TimeText at={error.lastAt} />
      </span>
    </div>
  );
}
