import { readFileSync } from 'node:fs';
import type { Span } from '../measure-attempts.ts';
import type { Figures } from '../run-fault.ts';
import type { ServerProcess } from '../server-process.ts';

/** The statistics that a deliver process logs every second, on the clock of `performance.now()` of this process. */
export type StatsLine = {
  at: number;
  inFlight: number;
  late: number;
  drains: number;
  rssMb: number;
  /** Since its start. */
  loopDelayP99Ms: number;
};

export type ProcessFigures = {
  mostInFlight: number;
  mostLate: number;
  mostDrains: number;
  mostRssMb: number;
  loopDelayP99Ms: number;
};

/** The worst of what each process said of itself in a time. */
export function processFigures(processes: readonly ServerProcess[], { from, to }: Span): ProcessFigures & Figures {
  const lines = processes.flatMap(readStats).filter(({ at }) => at >= from && at < to);
  const most = (of: (line: StatsLine) => number) => Math.max(...lines.map(of));
  return {
    mostInFlight: most((line) => line.inFlight),
    mostLate: most((line) => line.late),
    mostDrains: most((line) => line.drains),
    mostRssMb: most((line) => line.rssMb),
    loopDelayP99Ms: most((line) => line.loopDelayP99Ms),
  };
}

function readStats({ logFile }: ServerProcess): StatsLine[] {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  return lines
    .filter((line) => line.includes('deliver.stats') && line.endsWith('}'))
    .map((line) => {
      const { time, ...stats }: StatsLine & { time: string } = JSON.parse(line);
      return { ...stats, at: Date.parse(time) - performance.timeOrigin };
    });
}
