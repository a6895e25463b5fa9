import { moveSource } from '../../store/arrivals.ts';
import { cellNames } from '../../store/cells.ts';
import type { Tx } from '../../store/open-store.ts';
import { addDestinationsToOutbox } from '../../store/outbox.ts';
import type { SourceRow } from '../../store/sources.ts';
import { ApiProblem } from '../problems/problems.ts';

export async function mustBeCell(tx: Tx, cell: string): Promise<void> {
  const names = await cellNames(tx);
  if (names.includes(cell)) return;
  const message = `is no cell of this installation, which has ${names.join(', ')}`;
  throw new ApiProblem('invalid_request', [{ path: '/cell', message }]);
}

/** The new cell gets the destinations and the source; collect stores there when it has them. */
export async function moveToCell(tx: Tx, source: SourceRow, cell: string): Promise<void> {
  await mustBeCell(tx, cell);
  if (source.kind === 'computed') {
    const message = 'cannot change: the calls of audiences and computed traits are made in main';
    throw new ApiProblem('invalid_request', [{ path: '/cell', message }]);
  }
  await moveSource(tx, source, cell);
  await addDestinationsToOutbox(tx, source.workspace_id, source.id);
}
