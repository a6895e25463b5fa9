import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from './ask.js';

const [, , destinationId] = process.argv;
const path = `/destinations/${destinationId}/check-up`;

await ask('POST', path, { body: { targetIndex: 0 } });
let checkUp = await ask('GET', path);
while (checkUp.state === 'running') {
  await sleep(500);
  checkUp = await ask('GET', path);
}
for (const { name, grade, sentence, remedy } of checkUp.steps) console.log(grade, name, sentence, remedy ?? '');
console.log(checkUp.sentence);
