import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FORMATS } from '../../domain/format.ts';
import { VERSION } from '../../version.ts';
import { ApiProblem } from '../problems/problems.ts';
import { type LiveProcesses, mustBeUnderstood } from './newer-settings.ts';

type Known = { settingsKnown: number };
const NEW: Known = { settingsKnown: FORMATS.destination };
const OLD: Known = { settingsKnown: 1 };

const alive = (deliver: Known[] | undefined, controls: string[] = [VERSION]): LiveProcesses => ({
  deliverProcesses: () => deliver,
  processes: () => controls.map((version) => ({ roles: ['control', 'collect'], version })),
});

function refusal(before: object, after: object, processes: LiveProcesses): string {
  try {
    mustBeUnderstood({ ...before }, { ...after }, processes);
  } catch (error) {
    assert.ok(error instanceof ApiProblem);
    assert.equal(error.code, 'older_processes');
    return (error.errors ?? []).map(({ path, message }) => `${path} ${message}`).join('; ');
  }
  return '';
}

suite('a setting that older processes do not understand', () => {
  for (const settings of [{ bodyFormat: 'batch' }, { bodyFormat: 'batch-full' }, { order: 'user' }]) {
    const [name] = Object.keys(settings);
    test(`is refused while an older deliver process is alive: ${JSON.stringify(settings)}`, () => {
      assert.match(
        refusal({}, settings, alive([NEW, OLD])),
        new RegExp(`^/settings/${name} .*, and 1 deliver process is older: upgrade or stop it`),
      );
      assert.equal(refusal({}, settings, alive([NEW, NEW])), '');
    });
  }

  test('is refused while an older control process is alive, which would write the entry anew', () => {
    const older = alive([NEW, OLD], [VERSION, '0.0.9']);
    assert.match(refusal({}, { bodyFormat: 'batch' }, older), /1 deliver and 1 control processes are older/);
    assert.equal(refusal({}, { bodyFormat: 'batch' }, alive([NEW], [VERSION, '99.0.0'])), '');
  });

  test('is kept where the destination has it, and others are never refused', () => {
    assert.equal(refusal({ bodyFormat: 'batch' }, { bodyFormat: 'batch-full' }, alive([OLD])), '');
    assert.equal(refusal({ order: 'user' }, { order: 'none' }, alive([OLD])), '');
    assert.equal(refusal({}, { bodyFormat: 'full', order: 'none' }, alive([OLD])), '');
  });

  test('is taken where control may not hear the processes, or none is alive', () => {
    const deaf: LiveProcesses = { deliverProcesses: () => undefined, processes: () => undefined };
    assert.equal(refusal({}, { bodyFormat: 'batch' }, deaf), '');
    assert.equal(refusal({}, { bodyFormat: 'batch' }, alive([])), '');
  });
});
