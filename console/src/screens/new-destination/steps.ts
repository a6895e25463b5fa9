/** How far a new destination is: one state for each step, and the sentence above them. */
import type { CheckUp } from '@millrace/contract/control';
import { gradeWords } from '../../parts/destination/trial/check-up-report.ts';
import { unfinished } from '../../parts/destination/filters/rules.ts';
import { secretProblem } from '../../parts/destination/secret/secret.ts';
import { targetsProblem } from '../../parts/destination/targets/targets.ts';
import type { UrlState } from '../../parts/destination/targets/use-url-checks.ts';
import type { WizardDraft } from './wizard-draft.ts';

export type StepName = 'source' | 'targets' | 'secret' | 'filter' | 'try' | 'enable';
export type Step = { name: StepName; title: string; state: 'ok' | 'problem' | 'open'; detail: string };

export type Progress = {
  draft: WizardDraft;
  secret: string;
  sourceName: string | undefined;
  checks: readonly UrlState[];
  isCreated: boolean;
  isEnabled: boolean;
  report: CheckUp | undefined;
};

/** The server refuses to save such a URL; one whose receiver is not there yet may be saved. */
export function isBlocked(state: UrlState): boolean {
  if (state.kind !== 'checked' || state.check.ok) return false;
  const failed = state.check.steps.find(({ ok }) => !ok);
  return failed?.step === 'url' || failed?.step === 'policy';
}

export function stepsOf(progress: Progress): Step[] {
  const { draft, sourceName, isEnabled } = progress;
  const rules = draft.rules.length;
  return [
    {
      name: 'source',
      title: 'Source',
      state: draft.sourceId === '' ? 'open' : 'ok',
      detail: sourceName ?? 'not chosen yet',
    },
    { name: 'targets', title: 'Targets', ...targetStep(progress) },
    { name: 'secret', title: 'Secret', ...secretStep(progress) },
    {
      name: 'filter',
      title: 'Filter and preview',
      state: unfinished(draft.rules) > 0 ? 'problem' : 'ok',
      detail: rules === 0 ? 'every event passes' : `${rules} ${rules === 1 ? 'rule' : 'rules'}`,
    },
    { name: 'try', title: 'Test and check-up', ...tryStep(progress) },
    { name: 'enable', title: 'Enable', state: isEnabled ? 'ok' : 'open', detail: isEnabled ? 'events are sent' : '' },
  ];
}

type Part = Pick<Step, 'state' | 'detail'>;

function targetStep({ draft, checks }: Progress): Part {
  const many = draft.targets.length;
  const refused = checks.filter((state) => state.kind === 'checked' && !state.check.ok).length;
  if (refused > 0) return { state: 'problem', detail: `${refused} of ${many} cannot be used` };
  if (targetsProblem(draft.targets) !== undefined) return { state: 'open', detail: 'not whole yet' };
  const isChecked = checks.every(({ kind }) => kind === 'checked');
  return { state: isChecked ? 'ok' : 'open', detail: isChecked ? `${many} can be used` : 'not checked yet' };
}

function secretStep({ draft, secret, isCreated }: Progress): Part {
  if (draft.secretMode === 'none') return { state: 'ok', detail: 'none: nothing is signed' };
  if (isCreated) return { state: 'ok', detail: 'stored, hidden' };
  if (secret === '') return { state: 'open', detail: 'not there yet' };
  if (secretProblem(secret) !== undefined) return { state: 'problem', detail: 'cannot be used' };
  return { state: 'ok', detail: draft.secretMode === 'made' ? 'whsec_… made by this browser' : 'pasted' };
}

function tryStep({ isCreated, report }: Progress): Part {
  if (!isCreated) return { state: 'open', detail: 'after it is created' };
  if (report === undefined) return { state: 'open', detail: 'not done yet' };
  if (report.state === 'running') return { state: 'open', detail: 'running' };
  const isBad = report.grade === 'danger' || report.grade === 'warning';
  return { state: isBad ? 'problem' : 'ok', detail: report.state === 'failed' ? 'not finished' : gradeWords(report) };
}

/** The first thing that stops the creation, in words; undefined when it can be created. */
export function missing(progress: Progress): string | undefined {
  const { draft, secret, checks, isCreated } = progress;
  if (draft.sourceId === '') return 'Choose the source whose events it gets.';
  const blocked = checks.findIndex((state) => isBlocked(state));
  if (blocked >= 0) {
    return draft.targets.length === 1
      ? 'Its URL is refused: correct it to go on.'
      : `Target ${blocked + 1} is refused: correct or remove it to go on.`;
  }
  const targets = targetsProblem(draft.targets);
  if (targets !== undefined) return targets;
  if (!isCreated && draft.secretMode !== 'none') {
    if (secret === '') return 'Make or paste a secret.';
    const problem = secretProblem(secret);
    if (problem !== undefined) return problem;
  }
  return unfinished(draft.rules) > 0 ? 'Finish or remove the rules that are not whole.' : undefined;
}
