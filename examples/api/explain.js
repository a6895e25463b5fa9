import { ask } from './ask.js';

const [, , messageId] = process.argv;
const { verdict, story } = await ask('GET', `/events/${encodeURIComponent(messageId)}/explain`);
console.log(verdict);
for (const sentence of story) console.log(`  ${sentence}`);
