import { Millrace } from '@millrace/node';

// One directory a process: a second one that opens it gets a SpoolError.
const millrace = new Millrace(process.env.MILLRACE_WRITE_KEY, {
  endpoint: process.env.MILLRACE_ENDPOINT,
  spool: process.env.SPOOL_DIRECTORY ?? './spool',
});

millrace.track({ userId: 'user-1', event: 'Order Completed' });
const { sent, kept } = await millrace.close();
console.log(`${sent} sent, ${kept} wait for the next start`);
