import { CALL_TYPES, type RequestShape } from '../src/call.ts';

export interface NastyRequest {
  shape: RequestShape;
  text: string;
}

const CALLS_IN_BATCH = 20;
const LONG_CHARACTERS = 20_000;
const MANY_LEVELS = 55;

const KEYS = ['plan', 'revenue', 'Größe', 'a.b', '', ' ', '0', '17', '01', '-1', '4294967295', '4294967294', '😀'];
const NASTY_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toJSON',
  'toString',
  'hasOwnProperty',
  '\u2028',
  '\ud800',
];
const TEXTS = [
  '',
  'u1',
  '😀',
  '👩‍👩‍👧',
  'Größe',
  'é',
  '</script>',
  '"\\/',
  '\t\n',
  '\u0000',
  '\u007f',
  '{"a":1}',
  '-0',
];
const NASTY_TEXTS = ['\u2028', '\u2029', '\ufeff', '\ufffe', '\ud800', '\udfff', '\udc00\ud800', '\u{10ffff}'];
/** Text, because a program that holds them as numbers has changed some of them already. */
const NUMBERS = `0 -0 -0.0 0e5 100 0.1 1.10 -12.5e-3 1e20 1e21 1E+21 -1e21 1e-6 1e-7 0.0000001 5e-324 1e-400 1e400
  -1e400 9007199254740993 123456789012345678901234567890`.split(/\s+/);
const TIMES = ['2026-11-15T00:08:46Z', '2020-01-01T01:00:00.123456789+01:00', '1999-1-2', '2026-11-15T00:08:46+0000'];

/**
 * Requests as clients write them: JSON text with everything that JSON allows and programs stumble over. The same seed
 * gives the same requests, so that what failed once can be looked at again.
 */
export function* nastyRequests(seed: number): Generator<NastyRequest> {
  const dice = rollDice(seed);
  for (;;) {
    const shape = dice.pick(['batch', ...CALL_TYPES] as const);
    yield { shape, text: shape === 'batch' ? batchText(dice) : callText(dice) };
  }
}

interface Dice {
  below(limit: number): number;
  isOneIn(times: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32: small, and the same on every machine. */
function rollDice(seed: number): Dice {
  let state = seed;
  function below(limit: number): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }
  return {
    below,
    isOneIn: (times) => below(times) === 0,
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
  };
}

function batchText(dice: Dice): string {
  const calls = Array.from({ length: CALLS_IN_BATCH }, () => callText(dice));
  const fields = [`"batch":[${calls.join(',')}]`];
  if (dice.isOneIn(2)) fields.push(`"context":${objectText(dice, 2)}`);
  if (dice.isOneIn(4)) fields.push('"integrations":{"All":false,"Webhooks":true,"__proto__":{"a":1}}');
  if (dice.isOneIn(2)) fields.push('"sentAt":"2026-11-15T00:08:46.000Z"');
  return `{${fields.join(',')}}`;
}

/** Has what every type needs, so that almost all are accepted. */
function callText(dice: Dice): string {
  const fields = [
    `"type":"${dice.pick(CALL_TYPES)}"`,
    `"userId":${idText(dice)}`,
    `"previousId":${idText(dice)}`,
    `"groupId":${idText(dice)}`,
    `"event":${JSON.stringify(`E${someText(dice)}`)}`,
  ];
  if (dice.isOneIn(2)) fields.push(`"anonymousId":${idText(dice)}`);
  if (dice.isOneIn(2)) fields.push(`"name":${stringText(dice)}`);
  if (dice.isOneIn(3)) fields.push(`"category":${stringText(dice)}`);
  if (dice.isOneIn(3)) fields.push(`"timestamp":"${dice.pick(TIMES)}"`);
  if (dice.isOneIn(5)) fields.push('"messageId":"m\\ud800"');
  if (dice.isOneIn(4)) fields.push(`${keyText(dice)}:${valueText(dice, 2)}`);
  for (const name of ['properties', 'traits', 'context']) {
    if (!dice.isOneIn(3))
      fields.push(`"${name}":${dice.isOneIn(9) ? 'null' : objectText(dice, dice.isOneIn(4) ? 3 : 1)}`);
  }
  return `{${fields.join(',')}}`;
}

function idText(dice: Dice): string {
  return dice.isOneIn(6) ? dice.pick(['7', '-0', '1e21', '1e-7']) : JSON.stringify(`u${someText(dice)}`);
}

function valueText(dice: Dice, levels: number): string {
  if (levels === 0 || dice.isOneIn(3)) return leafText(dice);
  if (dice.isOneIn(200)) return deepText(dice);
  if (!dice.isOneIn(3)) return objectText(dice, levels);
  const items = Array.from({ length: dice.below(4) }, () => valueText(dice, levels - 1));
  return `[${items.join(', ')}]`;
}

/** Now and then a key comes twice, and there is space where JSON allows it. */
function objectText(dice: Dice, levels: number): string {
  const fields = Array.from({ length: dice.below(5) }, () => `${keyText(dice)}:${valueText(dice, levels - 1)}`);
  return `{${fields.join(dice.isOneIn(4) ? ' ,\n\t' : ',')}}`;
}

function deepText(dice: Dice): string {
  const isArray = dice.isOneIn(2);
  const [open, close] = isArray ? ['[', ']'] : ['{"__proto__":', '}'];
  return open.repeat(MANY_LEVELS) + leafText(dice) + close.repeat(MANY_LEVELS);
}

function leafText(dice: Dice): string {
  switch (dice.below(5)) {
    case 0:
      return dice.pick(['null', 'true', 'false', '{}', '[]', '[[],{}]']);
    case 1:
    case 2:
      return dice.pick(NUMBERS);
    default:
      return stringText(dice);
  }
}

function keyText(dice: Dice): string {
  return JSON.stringify(dice.pick(dice.isOneIn(4) ? NASTY_KEYS : KEYS));
}

/** The same text can be written in many ways; clients write it in all of them. */
function stringText(dice: Dice): string {
  const text = dice.isOneIn(1_500) ? someText(dice).padEnd(LONG_CHARACTERS, 'long 😀') : someText(dice);
  return dice.isOneIn(4) ? escapedText(text) : JSON.stringify(text);
}

function escapedText(text: string): string {
  return `"${text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
}

function someText(dice: Dice): string {
  const parts = Array.from({ length: dice.below(4) }, () => dice.pick(dice.isOneIn(5) ? NASTY_TEXTS : TEXTS));
  return parts.join('');
}
