import { ask } from './ask.js';

const [, , sourceId, url] = process.argv;
const filters = [{ field: 'type', op: 'equals', value: 'track' }];
const settings = { targets: [{ url }] };

const check = await ask('POST', '/destinations/check-url', { body: { url } });
for (const { step, ok, detail } of check.steps) console.log(ok ? 'ok ' : 'NO ', step, detail);

const preview = await ask('POST', '/destinations/preview', { body: { sourceId, filters, settings } });
console.log(`${preview.delivered.count} of ${preview.looked.events} events would be delivered.`);

const body = { sourceId, catalog: 'Webhooks', filters, settings };
const destination = await ask('POST', '/destinations', { body });
const { answer, outcome } = await ask('POST', `/destinations/${destination.id}/test`, { body: { type: 'track' } });
console.log(answer.sentence, outcome.sentence);
