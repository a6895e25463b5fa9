import { Millrace } from '@millrace/node';

const millrace = new Millrace(process.env.MILLRACE_WRITE_KEY, { endpoint: process.env.MILLRACE_ENDPOINT });

millrace.identify({ userId: 'user-1', traits: { plan: 'pro' } });
millrace.track({ userId: 'user-1', event: 'Order Completed', properties: { revenue: 12.5, currency: 'EUR' } });

console.log(await millrace.close()); // { sent: 2, failed: 0, dropped: 0, kept: 0 }
