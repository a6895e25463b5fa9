/** The secrets of `npm run dev`. They are public, because they are in the source: `npm start` refuses them. */
export const DEMO_TOKEN = 'demo-token-that-is-good-for-nothing-else';
export const DEMO_KEY = Buffer.alloc(32, 'demo');
