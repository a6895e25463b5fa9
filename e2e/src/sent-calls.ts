import type { Exchange } from './recorder.ts';
import type { Fields } from './story.ts';

/** A call as it stood in a request; the fields that a batch has for all its calls are in `shared`. */
export type SentCall = { call: Fields; shared: Fields; exchange: Exchange };

/** Every call that reached the collector, in the order of the requests; a call sent twice is there twice. */
export function sentCalls(exchanges: Exchange[]): SentCall[] {
  return exchanges.filter(({ method }) => method === 'POST').flatMap(callsOf);
}

function callsOf(exchange: Exchange): SentCall[] {
  const body: Fields = JSON.parse(exchange.body);
  if (!Array.isArray(body['batch'])) return [{ call: body, shared: {}, exchange }];
  const calls: Fields[] = body['batch'];
  return calls.map((call) => ({ call, shared: body, exchange }));
}
