import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UrlState } from '../../parts/destination/targets/use-url-checks.ts';
import { missing, type Progress, stepsOf } from './steps.ts';
import { freshDraft } from './wizard-draft.ts';

const checked = (ok: boolean, step: 'url' | 'connect'): UrlState => ({
  kind: 'checked',
  check: { ok, steps: [{ step, ok, detail: '' }], sentence: '' },
  isBusy: false,
  again: () => undefined,
});

function progress(url: string, check: UrlState): Progress {
  const draft = freshDraft('src_1');
  return {
    draft: { ...draft, targets: draft.targets.map((target) => ({ ...target, url })) },
    secret: 'made by hand',
    sourceName: 'Orders',
    checks: [check],
    isCreated: false,
    isEnabled: false,
    report: undefined,
  };
}

test('a destination can be created once source, URL and secret are there', () => {
  const ready = progress('https://a.example', checked(true, 'connect'));
  assert.equal(missing(ready), undefined);
  assert.match(missing({ ...ready, secret: '' }) ?? '', /secret/);
  assert.match(missing({ ...ready, draft: { ...ready.draft, sourceId: '' } }) ?? '', /source/);
  assert.match(missing(progress('', { kind: 'typing' })) ?? '', /URL/);
});

test('a refused address stops it, a receiver that is not up yet does not', () => {
  assert.match(missing(progress('http://10.0.0.5', checked(false, 'url'))) ?? '', /refused/);
  assert.equal(missing(progress('https://a.example', checked(false, 'connect'))), undefined);
});

test('each step says how far it is', () => {
  const steps = stepsOf(progress('https://a.example', checked(false, 'connect')));
  assert.deepEqual(
    steps.map(({ state }) => state),
    ['ok', 'problem', 'ok', 'ok', 'open', 'open'],
  );
});
