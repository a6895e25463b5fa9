/** The steps of a new destination, all on one page. */
import { SegmentedControl } from '@mantine/core';
import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Sift } from '../../parts/destination/filters/sift.tsx';
import { TargetEditor } from '../../parts/destination/targets/target-editor.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { visible } from '../../format/texts.ts';
import { EnableStep } from './enable-step.tsx';
import look from './new-destination.module.css';
import { SecretStep } from './secret-step.tsx';
import { SourceStep } from './source-step.tsx';
import { StepRail } from './step-rail.tsx';
import { missing, stepsOf, type StepName } from './steps.ts';
import { TryStep } from './try-step.tsx';
import { useWizard, type WizardInput } from './use-wizard.ts';
import { WizardSentence } from './wizard-sentence.tsx';

export function Wizard(input: WizardInput) {
  const wizard = useWizard(input);
  const { draft, checks, progress, put } = wizard;
  const { saved } = input;
  const lacks = missing(progress);
  return (
    <>
      <WizardSentence name={wizard.name} saved={saved} lacks={lacks} isChanged={wizard.change !== undefined} />
      <div className={look.wizard}>
        <StepRail steps={stepsOf(progress)} />
        <div className="stack">
          <Anchor name="source">
            <SourceStep draft={draft} sources={input.sources} isFixed={saved !== undefined} put={put} />
          </Anchor>
          <Anchor name="targets">
            <Card
              title="2. Targets"
              aside="Millrace checks each URL while you type"
              right={
                <Policy
                  value={draft.others.successPolicy ?? 'any'}
                  change={(successPolicy) => put({ others: { successPolicy } })}
                />
              }
            >
              <div className="pad">
                <TargetEditor targets={draft.targets} checks={checks} change={(targets) => put({ targets })} />
              </div>
            </Card>
          </Anchor>
          <Anchor name="secret">
            <SecretStep
              draft={draft}
              secret={wizard.secret}
              saved={saved}
              change={(secretMode, secret) => {
                put({ secretMode });
                wizard.putSecret(secret);
              }}
            />
          </Anchor>
          <Anchor name="filter">
            <Card
              title="4. Filter and preview"
              aside={`tried on stored events${progress.sourceName === undefined ? '' : ` of ${visible(progress.sourceName).slice(0, 60)}`}, nothing is sent`}
            >
              <Sift
                sourceId={draft.sourceId}
                rules={draft.rules}
                bodyFormat="documented"
                change={(rules) => put({ rules })}
              />
            </Card>
          </Anchor>
          {wizard.create.error !== null && <ProblemNote error={wizard.create.error} what="It was not created." />}
          {saved === undefined ? (
            <div className={look.foot}>
              <span className="small soft">{lacks ?? 'Nothing is sent until you enable it.'}</span>
              <Button
                look="ink"
                disabled={lacks !== undefined}
                isBusy={wizard.create.isPending}
                onClick={() => wizard.create.mutate()}
              >
                Create, disabled
              </Button>
            </div>
          ) : (
            <Created wizard={wizard} saved={saved} lacks={lacks} />
          )}
        </div>
      </div>
    </>
  );
}

type CreatedProps = {
  wizard: ReturnType<typeof useWizard>;
  saved: NonNullable<WizardInput['saved']>;
  lacks: string | undefined;
};

function Created({ wizard, saved, lacks }: CreatedProps) {
  const isChanged = wizard.change !== undefined;
  return (
    <>
      {isChanged && (
        <div className={look.foot}>
          <span className="small soft">{lacks ?? 'You changed it after it was created.'}</span>
          <Button look="ink" disabled={lacks !== undefined} isBusy={wizard.patch.isPending} onClick={wizard.save}>
            Save the changes
          </Button>
        </div>
      )}
      {wizard.patch.error !== null && <ProblemNote error={wizard.patch.error} what="The change was not saved." />}
      <Anchor name="try">
        <TryStep saved={saved} isChanged={isChanged} />
      </Anchor>
      <Anchor name="enable">
        <EnableStep
          saved={saved}
          sourceName={wizard.progress.sourceName ?? 'the source'}
          isChanged={isChanged}
          isBusy={wizard.patch.isPending}
          enable={() => wizard.patch.mutate({ enabled: true })}
        />
      </Anchor>
    </>
  );
}

function Policy({ value, change }: { value: string; change(value: string): void }) {
  return (
    <>
      <span className="small soft">Delivered when</span>
      <SegmentedControl
        aria-label="Delivered when"
        size="xs"
        value={value}
        onChange={change}
        data={[
          { value: 'any', label: 'any answers 2xx' },
          { value: 'all', label: 'all answer 2xx' },
        ]}
      />
    </>
  );
}

function Anchor({ name, children }: { name: StepName; children: ReactNode }) {
  return (
    <div id={name} className={look.anchor}>
      {children}
    </div>
  );
}
