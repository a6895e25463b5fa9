import type { Span } from '../measure-attempts.ts';

type LogLine = { time: string; connection?: string };

/** When the connection of this name came to another server, by the log of its process, on the clock of `performance.now()`. */
export function firstMoveIn(log: string, connection: string, { from, to }: Span): number | undefined {
  return log
    .split('\n')
    .filter((line) => line.includes('nats.reconnected') && line.endsWith('}'))
    .map((line): LogLine => JSON.parse(line))
    .filter((line) => line.connection === connection)
    .map(({ time }) => Date.parse(time) - performance.timeOrigin)
    .find((at) => at >= from && at <= to);
}
