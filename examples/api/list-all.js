import { ask } from './ask.js';

let cursor = '';
do {
  const page = await ask('GET', `/sources?limit=100${cursor && `&cursor=${cursor}`}`);
  for (const source of page.items) console.log(source.id, source.name);
  cursor = page.nextCursor;
} while (cursor);
