import { Millrace, NotSentError } from '@millrace/node';

// Outside the handler: the connection is used again by the next call of a warm function.
const millrace = new Millrace(process.env.MILLRACE_WRITE_KEY, {
  endpoint: process.env.MILLRACE_ENDPOINT,
  maxTries: 3,
  timeoutMs: 2000,
});

export async function handler(event) {
  try {
    // Awaited, because the function may be frozen as soon as it has answered.
    await millrace.now.track({ userId: event.userId, event: 'Function Called' });
  } catch (error) {
    if (!(error instanceof NotSentError)) throw error;
    console.error(`the call was not stored: ${error.code}`);
  }
  // Many calls in one run go together instead: millrace.track(…) for each, then await millrace.flush().
  return { statusCode: 200 };
}
