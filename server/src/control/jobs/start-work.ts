import type { ControlNeeds } from '../http/control-needs.ts';
import { deletionWork } from './delete-users.ts';
import { openLaneFeeder } from './feed-lane.ts';
import { redriveWork } from './redrive.ts';
import { replayWork } from './replay.ts';
import { type Jobs, startJobs } from './run-jobs.ts';

export type WorkNeeds = Pick<ControlNeeds, 'store' | 'side' | 'catalog' | 'now' | 'log'>;

/** Runs the jobs that requests of the API started. */
export function startWork(needs: WorkNeeds): Jobs {
  const feeder = openLaneFeeder(needs);
  const shared = { ...needs, feeder };
  const works = {
    redrive: () => redriveWork(shared),
    replay: () => replayWork(shared),
    deletion: () => deletionWork(shared),
  };
  const jobs = startJobs({
    ...needs,
    works,
  });
  return {
    look: jobs.look,
    async [Symbol.asyncDispose]() {
      await jobs[Symbol.asyncDispose]();
      feeder[Symbol.dispose]();
    },
  };
}
