import { NativeSelect, TextInput } from '@mantine/core';
import { ROLE_NAMES, type RoleName } from '@millrace/contract/permissions';
import { Button } from '../../../parts/button.tsx';
import type { GroupRow } from './draft.ts';
import styles from './sign-on.module.css';

/** A person gets the highest role of their groups. */
export function GroupRows({ rows, setRows }: { rows: readonly GroupRow[]; setRows(rows: GroupRow[]): void }) {
  const change = (at: number, row: Partial<GroupRow>) =>
    setRows(rows.map((each, place) => (place === at ? { ...each, ...row } : each)));
  return (
    <fieldset className={styles['groups']}>
      <legend>Groups and their roles</legend>
      <p className="small dim">
        Groups decide about roles anew at each sign-in. Without any group here, owners and admins set roles by hand.
      </p>
      {rows.map(({ group, role }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- rows have no id, and keep their place while they are typed
        <div className={styles['group']} key={at}>
          <TextInput
            aria-label={`Group ${at + 1}`}
            placeholder="Group"
            value={group}
            onChange={(event) => change(at, { group: event.currentTarget.value })}
          />
          <NativeSelect
            aria-label={`Role of group ${at + 1}`}
            value={role}
            data={[...ROLE_NAMES]}
            onChange={(event) => change(at, { role: event.currentTarget.value as RoleName })}
          />
          <Button small onClick={() => setRows(rows.filter((_, place) => place !== at))}>
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button small onClick={() => setRows([...rows, { group: '', role: 'viewer' }])}>
          Add a group
        </Button>
      </div>
    </fieldset>
  );
}
