/** docs/use/errors.md and the help texts of the contract are held against each other and against the codes of the server. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { HELP, PROBLEM_CODES, ERROR_CLASSES, ATTEMPT_HELP, PROBLEM_HELP, SKIP_HELP } from '@millrace/contract/help';
import { PROBLEM_CODES as SERVER_PROBLEMS } from '../server/src/control/problems/problems.ts';
import { ERROR_CLASSES as SERVER_CLASSES } from '../server/src/deliver/client/error-classes.ts';
import { skipSentence } from '../server/src/record/tell-story.ts';
import { anchors } from './check-links.ts';
import { ERRORS_PAGE, errorsPage } from './print-errors.ts';
import { ROOT_DIR } from './project-files.ts';

const page = readFileSync(join(ROOT_DIR, ERRORS_PAGE), 'utf8');

suite('the page of errors', () => {
  test('is printed from the help texts: `node scripts/print-errors.ts --write`', () => {
    assert.equal(page, errorsPage());
  });

  test('has an anchor for every code', () => {
    const found = anchors(page);
    assert.deepEqual(
      Object.keys(HELP).filter((code) => !found.has(code)),
      [],
    );
  });
});

suite('the codes of the server', () => {
  test('are those that have a help text, and no others', () => {
    assert.deepEqual(SERVER_CLASSES.toSorted(), Object.keys(ATTEMPT_HELP).toSorted());
    assert.deepEqual(SERVER_CLASSES.toSorted(), ERROR_CLASSES.toSorted());
    assert.deepEqual(SERVER_PROBLEMS.toSorted(), Object.keys(PROBLEM_HELP).toSorted());
    assert.deepEqual(SERVER_PROBLEMS.toSorted(), PROBLEM_CODES.toSorted());
  });

  test('have a sentence for every reason to skip an event', () => {
    for (const reason of Object.keys(SKIP_HELP)) {
      const told = skipSentence({ reason, type: 'track', name: 'Order Completed', rule: null });
      assert.notEqual(told, `Not sent: ${reason}.`);
    }
  });
});
