/** Every code that a call can be refused with, with every role and both engines: explain says why. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { MAX_CALLS, REFUSALS, type RefusalCode } from '@millrace/contract';
import type { Explanation } from '@millrace/contract/control';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

const nested = (levels: number): object => (levels === 0 ? {} : { deeper: nested(levels - 1) });
const page = { type: 'page', userId: 'u1' };

/** A call for each code, its messageId aside. */
const REFUSED: Readonly<
  Record<Exclude<RefusalCode, 'empty_batch' | 'too_many_calls' | 'message_id_too_long'>, object>
> = {
  type_unknown: { type: 'teleport', userId: 'u1' },
  id_required: { type: 'identify' },
  id_not_string: { type: 'identify', userId: {} },
  event_not_defined: { type: 'track', userId: 'u1' },
  event_not_string: { type: 'track', userId: 'u1', event: 5 },
  group_id_required: { type: 'group', userId: 'u1' },
  previous_id_required: { type: 'alias', userId: 'u1' },
  user_id_required: { type: 'alias', previousId: 'u1' },
  properties_not_object: { ...page, properties: [] },
  traits_not_object: { type: 'identify', userId: 'u1', traits: 'none' },
  context_not_object: { ...page, context: 1 },
  integrations_not_object: { ...page, integrations: 'all' },
  name_not_string: { ...page, name: 1 },
  category_not_string: { ...page, category: 1 },
  timestamp_invalid: { ...page, timestamp: 'yesterday' },
  call_too_large: track('large', { properties: { text: 'x'.repeat(40_000) } }),
  too_deep: track('deep', { properties: nested(70) }),
};

let stack: Stack;
let scene: Scene;
const opened = new AsyncDisposableStack();
before(async () => {
  stack = opened.use(await openStack());
  const receiver = opened.use(await openReceiver());
  scene = await addScene(stack, receiver.url);
});
after(() => opened.disposeAsync());

async function explained(messageId: string): Promise<Explanation> {
  let told: Explanation | undefined;
  await until(async () => {
    told = await stack.get<Explanation>('GET', `/events/${messageId}/explain`);
    return told.verdict === 'refused';
  });
  return told ?? assert.fail();
}

function assertTold(told: Explanation, code: RefusalCode): void {
  const [refusal] = told.refusals;
  assert.deepEqual([told.refusals.length, refusal?.code, refusal?.sourceId], [1, code, scene.sourceId], code);
  assert.deepEqual(told.story, [`Refused at ${refusal?.at} (${code}): ${REFUSALS[code]}`]);
  assert.deepEqual(told.destinations, []);
}

suite('explain tells why a call was refused', () => {
  test('for every code of a call', async () => {
    const codes = Object.keys(REFUSED) as (keyof typeof REFUSED)[];
    const calls = codes.map((code) => ({ ...REFUSED[code], messageId: `refused-${code}` }));
    assert.equal(await stack.send(scene.writeKey, calls), 400);
    for (const code of codes) assertTold(await explained(`refused-${code}`), code);
  });

  test('for a whole request, by the messageId of the request', async () => {
    assert.equal(await stack.sendBody(scene.writeKey, { messageId: 'none-in-it', batch: [] }), 400);
    const many = Array.from({ length: MAX_CALLS + 1 }, () => ({}));
    assert.equal(await stack.sendBody(scene.writeKey, { messageId: 'too-many-in-it', batch: many }), 400);
    assertTold(await explained('none-in-it'), 'empty_batch');
    assertTold(await explained('too-many-in-it'), 'too_many_calls');
  });

  test('and one whose id is too long to ask for is among the samples of its source', async () => {
    assert.equal(await stack.send(scene.writeKey, [track('long', { messageId: 'x'.repeat(257) })]), 400);
    type Refusals = { items: { code: string; count: number; samples: { call?: string }[] }[] };
    let found: Refusals['items'][number] | undefined;
    await until(async () => {
      const { items } = await stack.get<Refusals>('GET', `/sources/${scene.sourceId}/refusals`);
      found = items.find(({ code }) => code === 'message_id_too_long');
      return found !== undefined;
    });
    assert.match(found?.samples[0]?.call ?? '', /"messageId":"x{257}"/);
  });

  test('which are all codes that there are', () => {
    const shown = [...Object.keys(REFUSED), 'empty_batch', 'too_many_calls', 'message_id_too_long'];
    assert.deepEqual(shown.toSorted(), Object.keys(REFUSALS).toSorted());
  });
});
