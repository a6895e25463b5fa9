import { pino, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** `process`: the number of a child, which each of its lines shows. */
export type LogOptions = { level: string; pretty: boolean; file?: string; process?: number };

/** One JSON line a fact, on standard output or into `file`; `pretty` is for people in front of a terminal. */
export function openLog(options: LogOptions): Logger {
  const base = {
    level: options.level,
    base: options.process === undefined ? null : { process: options.process },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  if (options.file !== undefined) return pino(base, pino.destination({ dest: options.file, append: true }));
  if (!options.pretty) return pino(base);
  return pino({
    ...base,
    transport: { target: 'pino-pretty', options: { colorize: true, translateTime: 'HH:MM:ss.l' } },
  });
}
