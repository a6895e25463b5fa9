/** Starts check-ups as people do, and receivers that hold one in the middle. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { CheckUp } from '@millrace/contract/control';
import { Value } from 'typebox/value';
import { answer, type Received } from './receiver.ts';
import type { Asked } from './stack.ts';
import { until } from './until.ts';

type Problem = { code: string; detail: string; errors?: { path: string; message: string }[] };

const MINUTE_MS = 60_000;

export const pathOf = (id: string) => `/destinations/${id}/check-up`;

export type CheckUpAsking = ReturnType<typeof askForCheckUps>;

export function askForCheckUps(stack: Asked) {
  const start = (id: string, body: object = {}) => stack.ask<CheckUp & Problem>('POST', pathOf(id), body);
  const read = (id: string) => stack.get<CheckUp>('GET', pathOf(id));
  /** The report, which is as its schema says at every look. */
  const ended = async (id: string): Promise<CheckUp> => {
    let latest = await read(id);
    await until(async () => {
      latest = await read(id);
      assert.deepEqual([...Value.Errors(CheckUp, latest)], []);
      return latest.state !== 'running';
    }, MINUTE_MS);
    return latest;
  };
  const checkUp = async (id: string, body: object = {}): Promise<CheckUp> => {
    const started = await start(id, body);
    assert.equal(started.status, 201, JSON.stringify(started.body));
    assert.deepEqual([started.body.state, started.body.grade, started.body.steps.length], ['running', null, 6]);
    const report = await ended(id);
    assert.equal(report.id, started.body.id);
    return report;
  };
  return { start, read, ended, checkUp };
}

/** Answers the first request when it is let go, and the others at once. */
export function holdFirst() {
  const held = Promise.withResolvers<void>();
  let count = 0;
  return {
    release: held.resolve,
    respond(received: Received, response: ServerResponse): void {
      count += 1;
      if (count > 1) answer(200)(received, response);
      else void held.promise.then(() => answer(200)(received, response));
    },
  };
}
