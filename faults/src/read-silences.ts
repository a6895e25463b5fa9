import { readFileSync } from 'node:fs';
import type { Span } from './measure-attempts.ts';

type LogLine = { time: string; msg: string; stream?: string; trouble?: string };

/** When a collecting process heard nothing from a stream, by its own log. */
export function readSilences(logFile: string): Span[] {
  return silencesIn(readFileSync(logFile, 'utf8'));
}

/** On the clock of `performance.now()` of this process. A silence that a process does not end itself ends with its next start. */
export function silencesIn(log: string): Span[] {
  const lines = log
    .split('\n')
    .filter((line) => /stream\.troubled|stream\.recovered|server\.started/.test(line) && line.endsWith('}'))
    .map((line): LogLine => JSON.parse(line));
  return lines.flatMap(({ trouble, stream, time }, index) => {
    if (trouble !== 'silent') return [];
    const isEnd = (line: LogLine) =>
      line.msg === 'server.started' || (line.msg === 'stream.recovered' && line.stream === stream);
    const end = lines.slice(index).find(isEnd);
    return [{ from: clockOf(time), to: end === undefined ? Infinity : clockOf(end.time) }];
  });
}

function clockOf(time: string): number {
  return Date.parse(time) - performance.timeOrigin;
}
