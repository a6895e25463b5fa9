import type { Help } from './help.ts';

/**
 * An attempt that was answered with a status other than 2xx. The record names it by the status, such as `http_503`. A status without
 * an entry of its own has that of its family.
 */
export const STATUS_HELP = {
  http_3xx: {
    title: 'The receiver redirects',
    cause: 'The receiver answered that it has moved. Millrace does not follow redirects and does not retry.',
    remedy: 'Enter the new address as the URL of the target, then send the dead letters again.',
    whoCanDoIt: 'destination',
  },
  http_400: {
    title: 'The receiver does not understand the event',
    cause: 'The receiver answered 400. It would refuse the same event again, so Millrace does not retry.',
    remedy: 'Read the answer in the attempt, repair the receiver, then send the dead letters again.',
    whoCanDoIt: 'receiver',
  },
  http_401: {
    title: 'The receiver rejects the credentials',
    cause: 'The receiver answered 401: the Authorization header or the shared secret is missing, wrong or out of date.',
    remedy: 'Enter the current credentials in the destination, then send the dead letters again.',
    whoCanDoIt: 'destination',
  },
  http_403: {
    title: 'The receiver forbids the request',
    cause:
      'The receiver answered 403: it knows the credentials, and they do not permit this. A firewall may also answer so.',
    remedy: 'Give the credentials the missing right, or let the firewall pass Millrace.',
    whoCanDoIt: 'receiver',
  },
  http_404: {
    title: 'The receiver has no such address',
    cause: 'The receiver answered 404: the path of the URL does not exist there.',
    remedy: 'Correct the URL of the target, then send the dead letters again.',
    whoCanDoIt: 'destination',
  },
  http_405: {
    title: 'The receiver does not take POST here',
    cause: 'The receiver answered 405: this path is for other methods.',
    remedy: 'Use the URL that takes webhooks, then send the dead letters again.',
    whoCanDoIt: 'destination',
  },
  http_408: {
    title: 'The receiver gave up waiting',
    cause: 'The receiver answered 408: the request did not reach it in time. Millrace retries.',
    remedy: 'Look at the load of the receiver and of the proxy in front of it.',
    whoCanDoIt: 'receiver',
  },
  http_410: {
    title: 'The receiver is gone for good',
    cause: 'The receiver answered 410: it wants no more events at this address.',
    remedy: 'Enter the new URL, or disable the destination.',
    whoCanDoIt: 'destination',
  },
  http_413: {
    title: 'The event is too large for the receiver',
    cause: 'The receiver answered 413. Millrace does not shorten events and does not retry.',
    remedy: 'Let the receiver and its proxy take bodies of 512,000 bytes, then send the dead letters again.',
    whoCanDoIt: 'receiver',
  },
  http_415: {
    title: 'The receiver does not take JSON',
    cause: 'The receiver answered 415. Millrace sends every event as JSON.',
    remedy: 'Let the receiver take JSON, then send the dead letters again.',
    whoCanDoIt: 'receiver',
  },
  http_422: {
    title: 'The receiver cannot use the event',
    cause: 'The receiver answered 422: it read the event and refuses a value in it.',
    remedy: 'Read the answer in the attempt. Repair the receiver, or filter out such events.',
    whoCanDoIt: 'receiver',
  },
  http_429: {
    title: 'The receiver asks for fewer events',
    cause: 'The receiver answered 429. Millrace waits for as long as the answer asks, and loses nothing.',
    remedy: 'Set the highest rate of the destination to what its receiver can take.',
    whoCanDoIt: 'destination',
  },
  http_4xx: {
    title: 'The receiver refuses the event',
    cause: 'The receiver answered that the request is at fault. Millrace does not retry such an answer.',
    remedy: 'Read the answer in the attempt, repair the cause, then send the dead letters again.',
    whoCanDoIt: 'receiver',
  },
  http_500: {
    title: 'The receiver failed',
    cause: 'The receiver answered 500: an error in its own program. Millrace retries.',
    remedy: 'Look into the log of the receiver at the time of the attempt.',
    whoCanDoIt: 'receiver',
  },
  http_502: {
    title: 'The proxy reaches no receiver',
    cause: 'A proxy answered 502: the program behind it is down or answers wrongly. Millrace retries.',
    remedy: 'Start the program behind the proxy. Millrace then sends the waiting deliveries by itself.',
    whoCanDoIt: 'receiver',
  },
  http_503: {
    title: 'The receiver is not available',
    cause: 'The receiver answered 503: it is overloaded, or down for maintenance. Millrace retries.',
    remedy: 'Bring the receiver back, or pause the destination while it is repaired.',
    whoCanDoIt: 'receiver',
  },
  http_504: {
    title: 'The proxy got no answer in time',
    cause: 'A proxy answered 504: the program behind it is too slow. Millrace retries.',
    remedy: 'Let the receiver answer first and do its work afterwards.',
    whoCanDoIt: 'receiver',
  },
  http_5xx: {
    title: 'The receiver is in trouble',
    cause: 'The receiver answered that it failed. Millrace retries for four hours.',
    remedy: 'Look into the log of the receiver. Millrace sends the waiting deliveries when it is back.',
    whoCanDoIt: 'receiver',
  },
  unknown: {
    title: 'The answer was not recorded',
    cause: 'The record of this attempt holds neither a status nor an error.',
    remedy: 'Look at the other attempts of the delivery, or send a test to the destination.',
    whoCanDoIt: 'destination',
  },
} as const satisfies Record<string, Help>;

export type StatusCode = keyof typeof STATUS_HELP;
