import { ask } from './ask.js';

const [, , destinationId] = process.argv;
const filters = [
  { field: 'type', op: 'one_of', values: ['track', 'identify'] },
  { field: 'properties.total', op: 'greater', value: 100 },
];
const destination = await ask('PATCH', `/destinations/${destinationId}`, { body: { filters } });
console.log(destination.filters.length);
