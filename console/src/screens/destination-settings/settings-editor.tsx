import { TextInput } from '@mantine/core';
import type { Destination } from '@millrace/contract/control';
import { useRef } from 'react';
import { Card } from '../../parts/card.tsx';
import { Sift } from '../../parts/destination/filters/sift.tsx';
import { eventFormat } from '../../parts/destination/setting-fields.ts';
import { SettingsForm } from '../../parts/destination/settings-form.tsx';
import { TargetEditor } from '../../parts/destination/targets/target-editor.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { DeleteCard } from './delete-card.tsx';
import look from './destination-settings.module.css';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { RetryCard } from './retry-card.tsx';
import { SaveBar } from './save-bar.tsx';
import { SecretCard } from './secret-card.tsx';
import { StateCard } from './state-card.tsx';
import { useSettings } from './use-settings.ts';

export function SettingsEditor({ destination }: { destination: Destination }) {
  const settings = useSettings(destination);
  const { draft, put, fields, catalog } = settings;
  const isGone = useRef(false);
  const leave = () => {
    isGone.current = true;
  };
  return (
    <div className="stack">
      <div className={look.two}>
        <Card title="Name">
          <div className="pad">
            <TextInput
              aria-label="Name"
              maxLength={200}
              autoComplete="off"
              value={draft.name}
              onChange={(event) => put({ name: event.currentTarget.value })}
            />
          </div>
        </Card>
        <StateCard destination={destination} />
      </div>
      <Card title="Targets" aside="Millrace checks each URL while you type">
        <div className="pad">
          <TargetEditor targets={draft.targets} checks={settings.checks} change={(targets) => put({ targets })} />
        </div>
      </Card>
      <Card title="Filters" aside="tried on stored events before you save, nothing is sent">
        <Sift
          sourceId={destination.sourceId}
          rules={draft.rules}
          bodyFormat={eventFormat(draft.others.bodyFormat)}
          change={(rules) => put({ rules })}
        />
      </Card>
      <Card title="How it delivers">
        <div className="pad">
          {catalog.error !== null && (
            <ProblemNote
              error={catalog.error}
              what="The catalog cannot be read."
              retry={() => void catalog.refetch()}
            />
          )}
          {catalog.isPending ? (
            <LoadingRows rows={3} />
          ) : (
            <SettingsForm
              fields={fields}
              values={draft.others}
              isReadOnly={false}
              change={(others) => put({ others })}
            />
          )}
        </div>
      </Card>
      <div className={look.two}>
        <div className="stack">
          <SecretCard destination={destination} url={draft.targets[0]?.url ?? ''} />
          <DeleteCard destination={destination} leave={leave} />
        </div>
        <RetryCard />
      </div>
      {settings.change !== undefined && <SaveBar settings={settings} change={settings.change} />}
      <LeaveGuard isOn={settings.change !== undefined} isGone={isGone} />
    </div>
  );
}
