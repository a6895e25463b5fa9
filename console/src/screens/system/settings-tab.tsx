import { TextInput } from '@mantine/core';
import type { System } from '@millrace/contract/control';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { count } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { NoMatch } from '../../parts/list-states.tsx';
import { OuterText } from '../../parts/texts.tsx';
import styles from './system.module.css';

type Settings = System['process']['settings'];

export function SettingsTab({ settings }: { settings: Settings }) {
  const { filter = '' } = useSearch({ from: '/shell/system' });
  const navigate = useNavigate({ from: '/system' });
  const setFilter = (text: string) =>
    void navigate({ to: '.', search: { tab: 'settings', ...(text === '' ? {} : { filter: text }) }, replace: true });
  const wanted = filter.trim().toLowerCase();
  const shown = settings
    .filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(wanted))
    .toSorted((one, other) => Number(one.isDefault) - Number(other.isDefault));
  const own = settings.filter(({ isDefault }) => !isDefault).length;
  return (
    <Card
      title="Settings of the control process that answers"
      aside={`${count(own)} of ${count(settings.length)} differ from their default`}
      right={
        <TextInput
          aria-label="Filter settings"
          placeholder="Filter"
          data-filter
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
      }
    >
      {shown.length === 0 ? (
        <NoMatch loosen={() => setFilter('')}>
          None of the {count(settings.length)} settings has “<OuterText text={filter} />” in its name or value.
        </NoMatch>
      ) : (
        <table className="folds">
          <thead>
            <tr>
              <th>Environment variable</th>
              <th>Value</th>
              <th>Origin</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, value, isDefault }) => (
              <tr key={name}>
                <td className="mono">{name}</td>
                <td className={`mono ${styles['value']}`}>
                  {value === '' ? <span className="dim">not set</span> : <OuterText text={value} most={200} />}
                  {value === '***' && <span className="sub">masked</span>}
                </td>
                <td>{isDefault ? <span className="dim">default</span> : 'set'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
