import { pino, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** One JSON line a fact, on standard output; `pretty` is for people in front of a terminal. */
export function openLog(options: { level: string; pretty: boolean }): Logger {
  const base = { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!options.pretty) return pino(base);
  return pino({
    ...base,
    transport: { target: 'pino-pretty', options: { colorize: true, translateTime: 'HH:MM:ss.l' } },
  });
}
