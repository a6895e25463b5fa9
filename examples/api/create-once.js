import { randomUUID } from 'node:crypto';
import { ask } from './ask.js';

const request = { body: { name: 'Mobile app' }, headers: { 'Idempotency-Key': randomUUID() } };
const first = await ask('POST', '/sources', request);
const again = await ask('POST', '/sources', request);
console.log(first.id === again.id);
