/** Turns a lost or refused connection to an engine into a sentence with a remedy. */
import { Failure } from '../output/failures.ts';

export type Engine = 'PostgreSQL' | 'NATS';

const SETTING: Readonly<Record<Engine, string>> = {
  PostgreSQL: 'MILLRACE_DATABASE_URL and MILLRACE_MIGRATION_DATABASE_URL',
  NATS: 'MILLRACE_NATS_URL',
};

/** Runs the work; a failure to reach the engine becomes exit code 5. */
export async function reaching<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) throw error;
    const why = wordsOf(error);
    if (!isUnreachable(error, why)) throw error;
    throw new Failure(`${engine} cannot be used: ${why}`, {
      exit: 'unreachable',
      todo: `Check ${SETTING[engine]}; \`millrace doctor\` looks at every part of the connection.`,
    });
  }
}

/** Connections that fail on several addresses are one error with several inside, and an empty message. */
export function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(wordsOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** PostgreSQL: class 08, 28 (wrong login), 3D (no such database), 57P (shutting down). */
function isUnreachable(error: unknown, why: string): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(E[A-Z]+|08...|28...|3D...|57P..|53300)$/.test(code)) return true;
  return /connection refused|ECONN|ENOTFOUND|EAI_AGAIN|timeout|refuses this user|NATS server did not|certificate/i.test(
    why,
  );
}
