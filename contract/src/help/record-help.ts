import type { ProblemCode } from './codes.ts';
import type { Help } from './help.ts';

/** Problems with the record of deliveries and the outcomes that programs follow. */
export const RECORD_HELP = {
  delivery_without_row: {
    title: 'The row of this delivery was not kept',
    cause:
      'The delivery succeeded at its first attempt, and the installation keeps a sample of such rows. The counters have all of them.',
    remedy:
      'Explain the event: it tells when the delivery was made. The operator can keep more rows of later deliveries.',
    whoCanDoIt: 'operator',
  },
  cursor_gone: {
    title: 'Outcomes after this cursor are missing',
    cause:
      'The stream was not read for longer than the installation keeps outcomes, or its database was restored from a backup.',
    remedy: 'Begin the stream without a cursor. The list of deliveries has what happened in between.',
    whoCanDoIt: 'you',
  },
} as const satisfies Partial<Record<ProblemCode, Help>>;
