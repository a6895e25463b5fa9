import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  draftTarget,
  emptyHeader,
  emptyTarget,
  headerProblem,
  needsCheck,
  settingsOf,
  targetsProblem,
} from './targets.ts';

const stored = () => draftTarget({ url: 'https://a.example/x', headers: { Authorization: { set: true } } });

test('a stored header value is kept as long as its URL stays', () => {
  assert.deepEqual(settingsOf([stored()]), [{ url: 'https://a.example/x', headers: { Authorization: { set: true } } }]);
});

test('a URL is checked when it is whole and not saved already', () => {
  assert.equal(needsCheck('https://a.example/x', []), true);
  assert.equal(needsCheck(' https://a.example/x ', ['https://a.example/x']), false);
  assert.equal(needsCheck('https://a.example/y', ['https://a.example/x']), true);
  assert.equal(needsCheck('https://', []), false);
});

test('a new URL needs its header values again', () => {
  const moved = { ...stored(), url: 'https://b.example/x' };
  assert.match(targetsProblem([moved]) ?? '', /type this value again/);
  const typed = { ...moved, headers: moved.headers.map((header) => ({ ...header, value: 'Bearer 2' })) };
  assert.equal(targetsProblem([typed]), undefined);
  assert.deepEqual(settingsOf([typed]), [{ url: 'https://b.example/x', headers: { Authorization: 'Bearer 2' } }]);
});

test('a header that is empty counts for nothing, a half one is named', () => {
  const target = { ...emptyTarget(), url: 'https://a.example', headers: [emptyHeader()] };
  assert.equal(targetsProblem([target]), undefined);
  assert.deepEqual(settingsOf([target]), [{ url: 'https://a.example' }]);
  const half = { ...emptyHeader(), name: 'X-Team' };
  assert.match(headerProblem({ ...target, headers: [half] }, half) ?? '', /value/);
  const odd = { ...emptyHeader(), name: 'X Team', value: 'a' };
  assert.match(headerProblem({ ...target, headers: [odd] }, odd) ?? '', /letters/);
});

test('a URL that is missing, half or there twice stops the save', () => {
  const at = (url: string) => ({ ...emptyTarget(), url });
  assert.equal(targetsProblem([at('')]), 'Type the URL of the target.');
  assert.equal(targetsProblem([at('https://a.example'), at('http:/')]), 'The URL of target 2 is not whole yet.');
  assert.match(targetsProblem([at('https://a.example'), at('https://a.example ')]) ?? '', /there already/);
});
