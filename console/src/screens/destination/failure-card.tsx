/** The errors of the last 24 hours by target and class, also of a target that another one makes up for. */
import type { Destination, TargetErrors } from '@millrace/contract/control';
import type { UseQueryResult } from '@tanstack/react-query';
import { shortWords } from '../../format/codes.ts';
import { count } from '../../format/numbers.ts';
import { localSentence } from '../../format/sentences.ts';
import { hostOf } from '../../format/texts.ts';
import { helpOf } from '../../parts/code-help.tsx';
import { Card } from '../../parts/card.tsx';
import { ListStates } from '../../parts/list-states.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { Link } from '@tanstack/react-router';
import { targetsOf } from '../../parts/destination/health/destination-facts.ts';
import { Became } from './became.tsx';
import styles from './destination.module.css';

type FailureCardProps = { destination: Destination; errors: UseQueryResult<TargetErrors> };
type Cause = TargetErrors['targets'][number]['errors'][number] & { url: string };

export function FailureCard({ destination, errors }: FailureCardProps) {
  const causes = causesOf(errors.data);
  const data = errors.data;
  const aside =
    data === undefined || data.isComplete ? 'by target' : `by target, of the latest ${count(data.attempts)} attempts`;
  return (
    <Card title="Why attempts failed, last 24 hours" aside={aside}>
      <ListStates
        read={errors}
        failed="The errors cannot be shown."
        isEmpty={causes.length === 0}
        empty={
          <p className="pad dim">
            {data?.attempts === 0
              ? 'Millrace made no attempt in the last 24 hours.'
              : `Not one of the latest ${count(data?.attempts ?? 0)} attempts failed.`}
          </p>
        }
      >
        <table className={styles['causes']}>
          <thead>
            <tr>
              <th>What happened</th>
              <th>Target</th>
              <th className="num">POSTs</th>
              <th>First and last</th>
              <th>What became of them</th>
            </tr>
          </thead>
          <tbody>
            {causes.map((cause) => (
              <CauseRow key={`${cause.url} ${cause.errorClass}`} cause={cause} destination={destination} />
            ))}
          </tbody>
        </table>
      </ListStates>
    </Card>
  );
}

function CauseRow({ cause, destination }: { cause: Cause; destination: Destination }) {
  const { errorClass, url, count: posts, firstAt, lastAt, sentence, sampleDeliveryId } = cause;
  return (
    <tr>
      <td>
        <Link
          className="plain"
          to="/deliveries/$id"
          params={{ id: sampleDeliveryId }}
          title={[localSentence(sentence), helpOf(errorClass)?.remedy ?? ''].join('\n')}
        >
          <b>
            <OuterText text={shortWords(errorClass)} />
          </b>
        </Link>
        <span className="sub mono">{errorClass}</span>
      </td>
      <td>
        <OuterText text={hostOf(url)} most={40} />
        {!targetsOf(destination).some((target) => target.url === url) && (
          <span className="sub">no longer a target</span>
        )}
      </td>
      <td className="num">{count(posts)}</td>
      <td className="nowrap">
        <TimeText at={firstAt} />
        <span className="sub">
          <TimeText at={lastAt} />
        </span>
      </td>
      <td>
        <Became destination={destination} cause={cause} />
      </td>
    </tr>
  );
}

function causesOf(errors: TargetErrors | undefined): readonly Cause[] {
  return (errors?.targets ?? []).flatMap(({ url, errors }) => errors.map((error) => ({ ...error, url })));
}
