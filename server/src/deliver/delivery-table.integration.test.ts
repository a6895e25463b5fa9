/** The delivery table of docs/use/receiving.md, with real receivers through the whole role. One event goes to all of them. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { type Delivery, RETRY_WINDOW_MS } from '../domain/delivery.ts';
import { type Bed, type DeadLetter, openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver, type Received } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';

/** The last part of a path says what is answered: a status, or something worse. `first-…` only at the first attempt. */
function respond(received: Received, response: ServerResponse): void {
  const word = received.path.split('/').at(-1) ?? '';
  const isFirst = received.headers['x-millrace-attempt'] === '1';
  const [, first, what = word] = /^(first-)?(.*)$/.exec(word) ?? [];
  if (first !== undefined && !isFirst) return answer(204)(received, response);
  if (/^\d+$/.test(what)) return answer(Number(what))(received, response);
  if (what === 'asks') return answer(429, { 'Retry-After': '2' })(received, response);
  if (what === 'moved') return answer(301, { Location: '/elsewhere/200' })(received, response);
  if (what === 'reset') response.socket?.resetAndDestroy();
  if (what === 'garbage') response.socket?.end('this is not HTTP\r\n\r\n');
  // And `hang` is left to itself.
}

type Receiver = Awaited<ReturnType<typeof openReceiver>>;

const SCALE = 100;
const DELIVERED_AT_ONCE = ['200', '201', '204'];
const REFUSED = { moved: 301, '304': 304, '400': 400, '401': 401, '404': 404, '410': 410 };
/** Answered so at the first attempt, and with 204 at the second. */
const TRIED_AGAIN = ['408', '429', 'asks', '500', '503', 'hang', 'reset', 'garbage'].map((what) => `first-${what}`);

suite('the delivery table', { concurrency: true }, () => {
  const opening = new AsyncDisposableStack();
  let bed: Bed;
  let receiver: Receiver;
  /** One for each target that resets: over a connection that was used before, a reset may be taken for a stale one. */
  const alone: Receiver[] = [];
  let letters: DeadLetter[] = [];

  const posts = (destinationId: string, word?: string) =>
    [receiver, ...alone]
      .flatMap(({ received }) => received)
      .filter(({ path }) => path.startsWith(`/${destinationId}/${word ?? ''}`));
  const attemptsOf = (destinationId: string, word?: string) =>
    posts(destinationId, word).map(({ headers }) => Number(headers['x-millrace-attempt']));
  const letterOf = (destinationId: string) => letters.find((letter) => letter.destinationId === destinationId);
  const lanesOf = async (destinationId: string) =>
    Object.keys(await bed.laneGroups()).filter((subject) => subject.includes(`.${destinationId}.`));

  const put = async (id: string, urls: string[], successPolicy: 'any' | 'all' = 'any') => {
    const targets: { url: string }[] = [];
    for (const url of urls) {
      const base = url.endsWith('reset') ? opening.use(await openReceiver(respond)) : receiver;
      if (base !== receiver) alone.push(base);
      targets.push({ url: url.includes('://') ? url : new URL(`/${id}/${url}`, base.url).href });
    }
    await bed.putDestination({ id, settings: { targets, successPolicy } });
  };

  before(async () => {
    bed = opening.use(await openBed());
    receiver = opening.use(await openReceiver(respond));
    for (const word of [...DELIVERED_AT_ONCE, ...Object.keys(REFUSED), ...TRIED_AGAIN])
      await put(`dst_${word}`, [word]);
    // The lowest port that a webhook may have: no system hands it out.
    await put('dst_refused-port', ['http://127.0.0.1:1024/']);
    await put('dst_no-name', ['http://nobody.invalid/']);
    await put('dst_private', ['http://10.0.0.1/']);
    await put('dst_metadata', ['http://169.254.169.254/latest/meta-data']);
    await put('dst_any', ['200', '404', '500', 'reset', 'hang']);
    await put('dst_none', ['404', 'first-503', '410'], 'any');
    await put('dst_all', ['200', 'first-503', 'first-reset'], 'all');
    await put('dst_all-but-one', ['200', '404', 'first-503'], 'all');
    opening.use(await bed.deliver({ retryScale: SCALE }));
    await bed.append(track('E'));
    // The slowest is the one that hangs for five seconds, and is tried again.
    await until(() => attemptsOf('dst_first-hang').includes(2));
    await until(async () => (await bed.unsettled()) === 0);
    await until(async () => (await bed.deadLetters()).length >= Object.keys(REFUSED).length + 3);
    letters = await bed.deadLetters();
  });
  after(() => opening.disposeAsync());

  for (const word of DELIVERED_AT_ONCE) {
    test(`${word}: delivered, and not sent again`, async () => {
      assert.deepEqual(attemptsOf(`dst_${word}`), [1]);
      assert.equal(letterOf(`dst_${word}`), undefined);
      assert.deepEqual(await lanesOf(`dst_${word}`), []);
    });
  }

  for (const [word, status] of Object.entries(REFUSED)) {
    test(`${word}: final, and the dead letter says so`, async () => {
      assert.deepEqual(attemptsOf(`dst_${word}`), [1]);
      const letter = letterOf(`dst_${word}`);
      assert.equal(letter?.reason, 'discarded');
      assert.equal(letter?.delivery.event.messageId, 'm-E');
      const url = new URL(`/dst_${word}/${word}`, receiver.url).href;
      const notes = letter?.delivery.history.flatMap(({ answers }) => answers);
      assert.deepEqual(
        notes?.map((note) => ({ url: note.url, status: note.status })),
        [{ url, status }],
      );
      assert.deepEqual(letter?.delivery.settled, { [url]: 'failed' });
    });
  }

  test('a redirect is not followed', () => {
    assert.deepEqual(
      receiver.received.filter(({ path }) => path.startsWith('/elsewhere')),
      [],
    );
  });

  for (const word of TRIED_AGAIN) {
    test(`${word.replace('first-', '')}: tried again, with the same id and the same body, and then delivered`, async () => {
      const id = `dst_${word}`;
      await until(async () => (await lanesOf(id)).length === 0);
      assert.deepEqual(attemptsOf(id), [1, 2]);
      const [first, second] = posts(id);
      assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
      assert.equal(first?.body, second?.body);
      assert.equal(letterOf(id), undefined);
      const leastMs = word === 'first-asks' ? 2_000 : word === 'first-hang' ? 5_000 : 50;
      // The end of the window is counted from our start of the first attempt; when that arrived is up to the machine.
      const startedAt = Date.parse(String(first?.headers['x-millrace-give-up-at'])) - RETRY_WINDOW_MS / SCALE;
      const waitedMs = (second?.at ?? 0) - startedAt;
      assert.ok(waitedMs >= leastMs, `tried again after ${waitedMs} ms`);
    });
  }

  for (const [id, error] of [
    ['dst_refused-port', /^connection_refused$/],
    ['dst_no-name', /^dns_/],
  ] as const) {
    test(`${id.replace('dst_', '')}: tried again and again, and waits in its lane with its history`, async () => {
      const waiting = await untilTried(id, 3);
      const errors = waiting.history.flatMap(({ answers }) => answers.map((note) => note.error ?? ''));
      assert.ok(errors.length >= 3);
      for (const each of errors) assert.match(each, error);
      assert.equal(letterOf(id), undefined);
    });
  }

  for (const id of ['dst_private', 'dst_metadata']) {
    test(`${id.replace('dst_', '')} address: final, nothing is sent`, () => {
      const letter = letterOf(id);
      assert.equal(letter?.reason, 'discarded');
      assert.equal(letter?.delivery.attempts, 1);
      assert.equal(letter?.delivery.history[0]?.answers[0]?.error, 'address_forbidden');
    });
  }

  test('policy any: one good target of five is enough, and no target is tried again', async () => {
    for (const word of ['200', '404', '500', 'reset', 'hang']) assert.deepEqual(attemptsOf('dst_any', word), [1], word);
    assert.deepEqual(await lanesOf('dst_any'), []);
    assert.equal(letterOf('dst_any'), undefined);
  });

  test('policy any: only who said later is tried again', () => {
    assert.deepEqual(attemptsOf('dst_none', '404'), [1]);
    assert.deepEqual(attemptsOf('dst_none', '410'), [1]);
    assert.deepEqual(attemptsOf('dst_none', 'first-503'), [1, 2]);
    assert.equal(letterOf('dst_none'), undefined);
  });

  test('policy all: each target is settled on its own, and gets the event once', async () => {
    assert.deepEqual(attemptsOf('dst_all', '200'), [1]);
    assert.deepEqual(attemptsOf('dst_all', 'first-503'), [1, 2]);
    assert.deepEqual(attemptsOf('dst_all', 'first-reset'), [1, 2]);
    assert.equal(letterOf('dst_all'), undefined);
    assert.deepEqual(await lanesOf('dst_all'), []);
  });

  test('policy all: one target that refuses makes a dead letter of it, once the others are settled', () => {
    assert.deepEqual(attemptsOf('dst_all-but-one', '404'), [1]);
    assert.deepEqual(attemptsOf('dst_all-but-one', 'first-503'), [1, 2]);
    const letter = letterOf('dst_all-but-one');
    assert.equal(letter?.reason, 'discarded');
    assert.equal(letter?.delivery.attempts, 2);
    assert.deepEqual(Object.values(letter?.delivery.settled ?? {}).sort(), ['delivered', 'delivered', 'failed']);
  });

  test('there are no other dead letters', () => {
    const expected = [
      ...Object.keys(REFUSED).map((word) => `dst_${word}`),
      'dst_private',
      'dst_metadata',
      'dst_all-but-one',
    ];
    assert.deepEqual(letters.map(({ destinationId }) => destinationId).sort(), expected.sort());
  });

  /** Waits until a delivery has been attempted this often, and returns it as its lane holds it. */
  async function untilTried(id: string, times: number): Promise<Delivery> {
    let found: Delivery | undefined;
    await until(async () => {
      for (const subject of await lanesOf(id)) {
        const group = await bed.manager.streams.getMessage('LANES-0', { last_by_subj: subject }).catch(() => null);
        found = group?.json<Delivery[]>().find(({ attempts }) => attempts >= times);
      }
      return found !== undefined;
    });
    return found ?? assert.fail();
  }
});
