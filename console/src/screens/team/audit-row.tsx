import { Link } from '@tanstack/react-router';
import { shortId } from '../../format/texts.ts';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { type Difference, type Entry, actionWords, differencesOf } from './audit-words.ts';
import styles from './team.module.css';

const MOST = 3;

type AuditRowProps = {
  entry: Entry;
  /** All entries that were read, newest first. */
  older: readonly Entry[];
  names: ReadonlyMap<string, string>;
  /** The parameters of the page, kept in the link to the entry. */
  search: { filter?: string; signIns?: string; reads?: string };
};

export function AuditRow({ entry, older, names, search }: AuditRowProps) {
  const differences = differencesOf(entry, before(entry, older));
  return (
    <tr>
      <td>
        <WhoDidWhat entry={entry} names={names} />
        <span className="sub mono">{entry.action}</span>
      </td>
      <td className="outer">
        <Differences differences={differences.slice(0, MOST)} names={names} />
        {differences.length > MOST && <span className="sub">and {differences.length - MOST} more</span>}
      </td>
      <td className="mono nowrap" data-label="From">
        <OuterText text={entry.actor['address'] ?? '–'} most={40} />
      </td>
      <td className="num">
        <Link to="/team" search={{ tab: 'audit', ...search, show: String(entry.sequence) }}>
          <TimeText at={entry.at} />
        </Link>
      </td>
    </tr>
  );
}

export function before({ sequence }: Entry, entries: readonly Entry[]): Entry[] {
  return entries.filter((one) => one.sequence < sequence);
}

const NAMELESS: Readonly<Record<string, string>> = {
  visitor: 'A visitor',
  operator: 'The operator',
  unknown: 'An unknown person',
};

export function WhoDidWhat({ entry: { actor, action, objectId }, names }: Pick<AuditRowProps, 'entry' | 'names'>) {
  const id = actor['id'];
  const who = id === undefined ? (NAMELESS[actor['kind'] ?? ''] ?? 'The first start') : (names.get(id) ?? shortId(id));
  // A person who signs in is both actor and object.
  const words = actionWords(action);
  const isUnnamed = /\b(?:of|to|as|the source|the destination)$/.test(words);
  const named = objectId === id ? undefined : (names.get(objectId) ?? (isUnnamed ? shortId(objectId) : undefined));
  return (
    <>
      <b>
        <OuterText text={who} most={40} />
      </b>
      {actor['kind'] === 'token' && <span className="dim"> (token)</span>} {words}
      {named !== undefined && (
        <>
          {' '}
          <OuterText text={named} most={60} />
        </>
      )}
    </>
  );
}

type DifferencesProps = { differences: readonly Difference[]; names: ReadonlyMap<string, string> };

export function Differences({ differences, names }: DifferencesProps) {
  return differences.map(({ name, before: old, after }) => (
    <span className={styles['diff']} key={name}>
      {name}{' '}
      {old !== undefined && old !== after && (
        <>
          <s>
            <OuterText text={old} most={60} />
          </s>{' '}
          →{' '}
        </>
      )}
      <b>
        <OuterText text={names.get(after) ?? after} most={100} />
      </b>
    </span>
  ));
}
