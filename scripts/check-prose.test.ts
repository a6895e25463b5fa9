import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { headlessSentences } from './check-prose.ts';

const found = (file: string, text: string) => headlessSentences(file, text).map((each) => each.text);

suite('a sentence without an actor is found', () => {
  for (const [where, text] of Object.entries({
    'in a doc comment': '/** What has waited gives way. */',
    'in the second sentence of a comment': '/** Closes the lane.\n * Who comes later waits. */',
    'in a line comment over two lines': 'const x = 1;\n// A lease is over when\n// somebody else has the ticket.',
    'in an API summary': "route({ summary: 'Whoever asks gets the list' })",
  })) {
    test(where, () => assert.equal(found('x.ts', text).length, 1));
  }

  for (const [where, text] of Object.entries({
    'in a paragraph': 'The lane is read.\nNobody else\nreads it.',
    'in an item of a list': '- fine\n- what is late waits\n',
    'in a cell of a table': '| lane | what waits |\n|---|---|\n',
  })) {
    test(`${where} of a page`, () => assert.equal(found('x.md', text).length, 1));
  }
});

suite('a sentence passes', () => {
  for (const [why, text] of Object.entries({
    'that names its actor': '/** Deliver parks the delivery; its ticket says when the lane is due. */',
    'that is a question': '/** What does the receiver see? */',
    'whose words are code': '/** `nobody` is a user of the system. */',
  })) {
    test(why, () => assert.deepEqual(found('x.ts', text), []));
  }

  test('that is code on a page', () => assert.deepEqual(found('x.md', '```\nwhat is this\n```\n'), []));
});
