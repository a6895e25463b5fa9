/** Keeps each destination and each workspace within its share of what all of them store in. */
import type { DeadLetters } from '../stream/deliveries/dead-letters.ts';
import type { Lanes } from '../stream/deliveries/lanes.ts';
import { DEAD_STREAM } from '../stream/layout/layout.ts';
import type { Shares } from '../stream/deliveries/shares.ts';
import type { LaneReports } from './lane/lane-reports.ts';
import type { ParkerNeeds } from './settle/park.ts';

export type LaneRoomNeeds = {
  lanes: Pick<Lanes, 'streamOf'>;
  shares: Pick<Shares, 'isOver' | 'storing'>;
  reports: Pick<LaneReports, 'isOverQuota' | 'appended'>;
};

type LaneRoom = Pick<ParkerNeeds, 'isFull' | 'storing' | 'appended'>;

export function laneRoom({ lanes, shares, reports }: LaneRoomNeeds): LaneRoom {
  return {
    isFull(destinationId, isPutBack) {
      if (reports.isOverQuota(destinationId)) return true;
      return !isPutBack && shares.isOver(lanes.streamOf(destinationId), destinationId);
    },
    storing: (destinationId, bytes, store) =>
      shares.storing({ stream: lanes.streamOf(destinationId), destinationId, bytes }, store),
    appended: reports.appended,
  };
}

/** A letter over the share is refused. Those that are kept stay: people were told that they would. */
export function shareDeadLetters(letters: DeadLetters, shares: Pick<Shares, 'isOver' | 'storing'>): DeadLetters {
  return {
    async append(destinationId, id, payload) {
      if (shares.isOver(DEAD_STREAM, destinationId)) return 'full';
      const letter = { stream: DEAD_STREAM, destinationId, bytes: Buffer.byteLength(payload) };
      return shares.storing(letter, () => letters.append(destinationId, id, payload));
    },
  };
}
