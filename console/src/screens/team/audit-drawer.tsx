import { Facts } from '../../parts/card.tsx';
import { Json } from '../../parts/code.tsx';
import { SideDrawer } from '../../parts/dialog.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';
import { before, Differences, WhoDidWhat } from './audit-row.tsx';
import { differencesOf, type Entry } from './audit-words.ts';

type AuditDrawerProps = {
  entry: Entry;
  older: readonly Entry[];
  names: ReadonlyMap<string, string>;
  close(): void;
};

export function AuditDrawer({ entry, older, names, close }: AuditDrawerProps) {
  const { actor, action, at, objectId, sequence, details } = entry;
  const differences = differencesOf(entry, before(entry, older));
  return (
    <SideDrawer title={`Entry ${sequence}`} isOpen close={close}>
      <div className="stack">
        <p>
          <WhoDidWhat entry={entry} names={names} />
        </p>
        <Facts
          facts={[
            ['Action', <code key="action">{action}</code>],
            ['When', <TimeText key="at" at={at} withDistance />],
            [
              'Actor',
              actor['id'] === undefined ? (actor['kind'] ?? 'not known') : <IdText key="actor" id={actor['id']} />,
            ],
            ['Address', <OuterText key="address" text={actor['address'] ?? 'not known'} />],
            ...(actor['sessionId'] === undefined
              ? []
              : [['Session', <IdText key="session" id={actor['sessionId']} />] as const]),
            ['Object', <IdText key="object" id={objectId} />],
          ]}
        />
        {differences.length > 0 && (
          <div>
            <Differences differences={differences} names={names} />
            <p className="small dim mt">
              The log keeps new values. A value before stands here when an older entry of the same thing has it.
            </p>
          </div>
        )}
        <Json value={details} label="details" />
      </div>
    </SideDrawer>
  );
}
