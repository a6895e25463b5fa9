/** Tells the story with @millrace/node: `send-calls.ts <package> <endpoint> <write key>`. */
import { tellNodeStory } from '../node-story.ts';
import { openClient } from './open-client.ts';

const [directory = '', endpoint = '', writeKey = ''] = process.argv.slice(2);
const client = await openClient(directory, writeKey, {
  endpoint,
  onError(problem: unknown) {
    console.error(problem);
    process.exitCode = 1;
  },
});

tellNodeStory(client);
await client.close();
