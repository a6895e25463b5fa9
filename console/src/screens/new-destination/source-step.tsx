import { NativeSelect, TextInput } from '@mantine/core';
import type { Source } from '@millrace/contract/control';
import { cutText, visible } from '../../format/texts.ts';
import { Card } from '../../parts/card.tsx';
import look from './new-destination.module.css';
import type { WizardDraft } from './wizard-draft.ts';

type SourceStepProps = {
  draft: WizardDraft;
  sources: readonly Source[];
  /** A destination stays with its source. */
  isFixed: boolean;
  put(part: Partial<WizardDraft>): void;
};

export function SourceStep({ draft, sources, isFixed, put }: SourceStepProps) {
  return (
    <Card title="1. Source and name">
      <div className={`pad ${look.two}`}>
        <NativeSelect
          label="Events of"
          value={draft.sourceId}
          disabled={isFixed}
          data={[
            { value: '', label: 'Choose a source', disabled: true },
            ...sources.map(({ id, name }) => ({ value: id, label: cutText(visible(name), 60) })),
          ]}
          onChange={(event) => put({ sourceId: event.currentTarget.value })}
        />
        <TextInput
          label="Name"
          placeholder="The host of its first URL"
          maxLength={200}
          autoComplete="off"
          value={draft.name}
          onChange={(event) => put({ name: event.currentTarget.value })}
        />
      </div>
    </Card>
  );
}
