import { ask } from './ask.js';

const [, , sourceId, from] = process.argv;
let query = `from=${from}`;
for (;;) {
  const page = await ask('GET', `/sources/${sourceId}/feed?${query}`);
  for (const { event } of page.items) console.log(event.receivedAt, event.type, event.messageId);
  if (page.isAtEnd) break;
  query = `cursor=${page.cursor}`;
}
