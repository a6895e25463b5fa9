import { TestDestination, TestedDestination } from '@millrace/contract/control';
import { type DestinationRow, findDestination } from '../../../store/destinations.ts';
import { deliverRoute, type Route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { askDeliver, notDone } from './ask-deliver.ts';
import { eventToSend } from './test-event.ts';

export const testRoutes: Route[] = [
  deliverRoute({
    method: 'POST',
    url: '/api/v1/destinations/:id/test',
    summary: 'Sends one call, marked as a test, to one target; shows the exact request and answer',
    body: TestDestination,
    answer: TestedDestination,
    status: 200,
    permission: 'destinations:write',
    async ask({ actor: { workspaceId }, params, body, inWorkspace }, needs) {
      const { targetIndex = 0 } = body;
      const event = eventToSend(body, needs.now());
      const row = await inWorkspace(async (tx, audit) => {
        const destination = found(await findDestination(tx, workspaceId, params.id));
        mustHaveTarget(destination, targetIndex);
        // Before anything is sent: no test is without an entry.
        await audit('destination.tested', destination.id, { details: { targetIndex, type: event.type } });
        return destination;
      });
      const { id: destinationId, updated_at } = row;
      const updatedAt = updated_at.toISOString();
      const asked = { workspaceId, destinationId, updatedAt, targetIndex, event };
      const answer = await askDeliver({ kind: 'test', ...asked }, needs);
      if (answer.kind !== 'tested') throw notDone(answer);
      return answer.tested;
    },
  }),
];

export function mustHaveTarget({ settings }: DestinationRow, index: number): void {
  const { targets } = settings;
  const count = Array.isArray(targets) ? targets.length : 0;
  if (index < count) return;
  const message = `must be below ${count}: the destination has ${count === 1 ? 'one target' : `${count} targets`}`;
  throw new ApiProblem('invalid_request', [{ path: '/targetIndex', message }]);
}
