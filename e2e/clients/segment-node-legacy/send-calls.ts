/** Tells the story with analytics-node, which has no types of its own: `send-calls.ts <endpoint> <write key>`. */
import { createRequire } from 'node:module';
import { tellNodeStory } from '../node-story.ts';

type LegacyCall = (message: object) => void;
type LegacyAnalytics = Record<'identify' | 'track' | 'page' | 'screen' | 'group' | 'alias', LegacyCall> & {
  flush(): Promise<unknown>;
};
type LegacyConstructor = new (writeKey: string, options: { host: string }) => LegacyAnalytics;

const Analytics: LegacyConstructor = createRequire(import.meta.url)('analytics-node');
const [host = '', writeKey = ''] = process.argv.slice(2);
const analytics = new Analytics(writeKey, { host });

// The library sends the first call at once and by itself; a failure there ends the process as an unhandled rejection.
tellNodeStory(analytics);
await analytics.flush();
