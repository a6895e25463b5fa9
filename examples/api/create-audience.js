import { ask } from './ask.js';

const definition = {
  kind: 'audience',
  name: 'Big spenders (30 days)',
  when: { event: 'Order Completed', sum: 'properties.revenue', window: '30d', atLeast: 500 },
};
const { size, low, high, completeFrom } = await ask('POST', '/definitions/preview', { body: { definition } });
const since = completeFrom === null ? '' : `, counted since ${completeFrom}`;
console.log(`${size} members, between ${low} and ${high}${since}`);

const { id, key, state } = await ask('POST', '/definitions', { body: definition });
console.log(id, key, state);
await ask('PATCH', `/definitions/${id}`, { body: { name: 'Good customers' } });
await ask('DELETE', `/definitions/${id}?members=exit`);
