/** Tells the story with @rudderstack/rudder-sdk-node: `send-calls.ts <endpoint> <write key> [plain]`. */
import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { tellNodeStory } from '../node-story.ts';

const [dataPlaneUrl = '', writeKey = '', encoding = 'gzip'] = process.argv.slice(2);
const analytics = new RudderAnalytics(writeKey, {
  dataPlaneUrl,
  gzip: encoding === 'gzip',
  errorHandler(error: unknown) {
    console.error(error);
    process.exitCode = 1;
  },
});

tellNodeStory(analytics);
await analytics.flush();
