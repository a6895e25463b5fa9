import { JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/nats-core';

/** JetStream's own errors, translated in one place into the kinds that our code acts on. */
export type EngineTrouble =
  /** Nothing was stored: the stream has no leader now. Another stream may take the request. */
  | 'no_leader'
  /** Not now: a copy with the same id is being written, or the stream is busy. Ask again with that id. */
  | 'in_process'
  /** A limit was reached. Nothing was stored, and nothing will be until there is room. */
  | 'full'
  /** The subject's last message is not the expected one: another process was first. */
  | 'conflict'
  /** The server said no for a reason that trying again does not change. */
  | 'refused';

/** The text behind each number is in the NATS server's list of API errors. */
const TROUBLE_BY_CODE: Readonly<Record<number, EngineTrouble>> = {
  10008: 'no_leader', // JetStream system temporarily unavailable
  10009: 'no_leader', // cluster can not handle request
  10039: 'no_leader', // JetStream not enabled for the account: seen while a server starts
  10076: 'no_leader', // JetStream not enabled: likewise
  10118: 'no_leader', // stream is offline
  10194: 'no_leader', // stream is offline, with a reason
  10158: 'in_process', // duplicate message id is in process
  10023: 'full', // insufficient resources
  10047: 'full', // insufficient storage resources
  10077: 'full', // store failed: maximum bytes exceeded
  10002: 'full', // resource limits of the account exceeded
  10071: 'conflict', // wrong last sequence
  10164: 'conflict', // wrong last sequence, without its number
  10167: 'in_process', // too many requests: not stored, and the same id may come again
};

export function troubleOf(apiErrorCode: number): EngineTrouble {
  return TROUBLE_BY_CODE[apiErrorCode] ?? 'refused';
}

/** For a question about something that may not exist. */
export function undefinedIfMissing(code: number): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof JetStreamApiError && error.code === code) return undefined;
    throw error;
  };
}

/** Whether the NATS user may not do it. */
export function isDenied(error: unknown): boolean {
  if (error instanceof errors.PermissionViolationError) return true;
  return error instanceof Error && error.cause !== undefined && isDenied(error.cause);
}
