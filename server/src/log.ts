import { pino, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** One JSON line a fact, on standard output or into `file`; `pretty` is for people in front of a terminal. */
export function openLog(options: { level: string; pretty: boolean; file?: string }): Logger {
  const base = { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (options.file !== undefined) return pino(base, pino.destination({ dest: options.file, append: true }));
  if (!options.pretty) return pino(base);
  return pino({
    ...base,
    transport: { target: 'pino-pretty', options: { colorize: true, translateTime: 'HH:MM:ss.l' } },
  });
}
