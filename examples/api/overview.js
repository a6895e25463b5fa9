import { ask } from './ask.js';

const { tiles, attention } = await ask('GET', '/overview');
console.log(`${tiles.callsPerMinute.now} calls a minute, ${tiles.waiting} deliveries wait`);
for (const { sentence, nextStep } of attention) console.log(`- ${sentence}\n  ${nextStep}`);
