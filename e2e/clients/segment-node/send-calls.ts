/** Tells the story with @segment/analytics-node: `send-calls.ts <endpoint> <write key>`. */
import { Analytics } from '@segment/analytics-node';
import { tellNodeStory } from '../node-story.ts';

const [host = '', writeKey = ''] = process.argv.slice(2);
const analytics = new Analytics({ host, writeKey });
analytics.on('error', (error) => {
  console.error(error);
  process.exitCode = 1;
});

tellNodeStory(analytics);
await analytics.closeAndFlush();
