import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openForecast, type StreamSample } from './forecast.ts';

const MINUTE_MS = 60_000;
const sample = (kind: string, bytes: number, lastSequence = 0, messages = lastSequence): StreamSample => ({
  name: `${kind}-0`,
  kind,
  bytes,
  maxBytes: 1_000_000,
  messages,
  lastSequence,
});

suite('how long the room lasts', () => {
  test('is not known before there is a rate, and never for a kind that does not grow', () => {
    const forecast = openForecast();
    forecast.see([sample('dead', 100), sample('lanes', 500)], 0);
    forecast.see([sample('dead', 200), sample('lanes', 400)], 5 * MINUTE_MS);
    assert.deepEqual([...forecast.fullIn()], []);
    forecast.see([sample('dead', 300), sample('lanes', 400)], 10 * MINUTE_MS);
    assert.deepEqual([...forecast.fullIn().keys()], ['dead']);
  });

  test('follows from the growth of the last hour', () => {
    const forecast = openForecast();
    for (let minute = 0; minute <= 120; minute += 1) {
      const bytes = minute <= 60 ? minute * 10_000 : 600_000 + (minute - 60) * 1_000;
      forecast.see([sample('outcomes', bytes)], minute * MINUTE_MS);
    }
    const left = forecast.fullIn().get('outcomes') ?? 0;
    assert.ok(Math.abs(left - (340_000 / 1_000) * 60) < 1, `${left}`);
  });

  test('is, for events, how long they stay: by all that came, not by what is left of it', () => {
    const forecast = openForecast();
    forecast.see([sample('events', 700_000, 7_000)], 0);
    forecast.see([sample('events', 650_000, 10_600, 6_500)], 60 * MINUTE_MS);
    assert.deepEqual([...forecast.fullIn()], []);
    assert.equal(forecast.keptFor(), 7_000, '700,000 bytes at 100 a second');
  });

  test('is not known when the streams were made anew, or nothing comes', () => {
    const forecast = openForecast();
    forecast.see([sample('events', 700_000, 7_000)], 0);
    forecast.see([sample('events', 100, 1)], 60 * MINUTE_MS);
    assert.equal(forecast.keptFor(), undefined);
  });
});
