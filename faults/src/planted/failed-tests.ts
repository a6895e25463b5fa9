/** A reporter of `node --test`: a line of JSON for each test that failed by itself, and one with the number of those that passed. */
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export type TestLine = { failed: string; why: string } | { passed: number };

// oxlint-disable-next-line import/no-default-export -- node --test-reporter asks for it
export default async function* failedTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0;
  for await (const { type, data } of events) {
    if (type === 'test:pass' && data.details.type !== 'suite') passed += 1;
    if (type !== 'test:fail') continue;
    const { error } = data.details;
    if ('failureType' in error && error.failureType === 'subtestsFailed') continue;
    yield lineOf({ failed: data.name, why: messageOf(error.cause ?? error) });
  }
  yield lineOf({ passed });
}

const lineOf = (line: TestLine) => `${JSON.stringify(line)}\n`;

function messageOf(error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : inspect(error)).split('\n');
  return first;
}
