import type { Lanes } from '../../stream/deliveries/lanes.ts';
import { type LaneNote, notePace } from './lane-note.ts';
import type { LaneReports } from './lane-reports.ts';
import type { Webhook } from '../attempt/webhook.ts';

export type DrainProgress = {
  /** How many have left the lane since this look began. */
  passed(left: number): Promise<void>;
  /** The same, when the look is over. */
  measure(left: number): void;
};

export type ProgressNeeds = { reports: LaneReports; lanes: Pick<Lanes, 'count'>; now(): number; uptimeMs(): number };

/** A long drain tells how it goes while it goes: depth, speed, time to clear. */
const TELL_EVERY_MS = 2_000;

export function watchProgress(webhook: Webhook, note: LaneNote, needs: ProgressNeeds): DrainProgress {
  const { reports, lanes, now, uptimeMs } = needs;
  const last = { at: uptimeMs(), left: 0 };
  function measure(left: number): void {
    notePace(note, left - last.left, uptimeMs() - last.at);
    last.at = uptimeMs();
    last.left = left;
  }
  return {
    measure,
    async passed(left) {
      reports.draining(webhook);
      if (uptimeMs() - last.at < TELL_EVERY_MS) return;
      measure(left);
      const counts = await lanes.count(webhook.destinationId);
      reports.report(webhook, { note, counts, state: 'draining', nextAt: now() });
    },
  };
}
