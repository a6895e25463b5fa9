import { JetStreamApiCodes, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { TICKETS_STREAM } from '../layout/layout.ts';

/** A ticket that is no longer there counts as deleted. */
export async function deleteTicket(manager: JetStreamManager, sequence: number): Promise<void> {
  try {
    // Not overwritten on the disk: there is nothing in it to hide.
    await manager.streams.deleteMessage(TICKETS_STREAM, sequence, false);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** 10043 and 10057 are a deletion that came too late: the ticket has fired, or another process has it. */
export function isMissing(error: unknown): boolean {
  const codes: number[] = [JetStreamApiCodes.NoMessageFound, 10043, 10057];
  return error instanceof JetStreamApiError && codes.includes(error.code);
}
