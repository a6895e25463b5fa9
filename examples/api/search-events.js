import { ask } from './ask.js';

const [, , sourceId, text] = process.argv;
let cursor = '';
do {
  const page = await ask('GET', `/stored-events?sourceId=${sourceId}&text=${encodeURIComponent(text)}${cursor}`);
  for (const { storedAt, event } of page.items) console.log(storedAt, event.type, event.messageId);
  cursor = page.nextCursor && `&cursor=${page.nextCursor}`;
} while (cursor);
