/** Definitions as the control API shows and checks them. */
import type { VersionState } from '../../compute/profiles/profile-store.ts';
import type { Tx } from '../open-store.ts';
import { oneRow } from '../rows.ts';
import { type DefinitionRow, listDefinitions } from './definitions.ts';

export type UsedVersion = {
  definition: number;
  version: number;
  body: unknown;
  measures: unknown;
  state: VersionState;
};
/** Lowest version first: the one that is live, and the one that is to replace it. */
export type KnownDefinition = DefinitionRow & { versions: UsedVersion[] };

/** More than a workspace can have: those that are being deleted count too. */
const ALL = 10_000;

/** Every definition of the workspace that is not deleted, oldest first. */
export async function knownDefinitions(tx: Tx, workspaceId: string): Promise<KnownDefinition[]> {
  const rows = await listDefinitions(tx, workspaceId, { limit: ALL, after: undefined });
  return withVersions(tx, rows);
}

export async function withVersions(tx: Tx, rows: readonly DefinitionRow[]): Promise<KnownDefinition[]> {
  const sql = `SELECT definition, version, body, measures, state FROM definition_versions
    WHERE definition = ANY($1) AND state <> 'replaced' ORDER BY definition, version`;
  const versions = await tx.query<UsedVersion>(sql, [rows.map(({ number }) => number)]);
  const byDefinition = Map.groupBy(versions, ({ definition }) => definition);
  return rows.map((row) => ({ ...row, versions: byDefinition.get(row.number) ?? [] }));
}

export type KeyHolder = Pick<DefinitionRow, 'id' | 'name' | 'state'>;

/** The definition that has the key, or had it before it was deleted. */
export function holderOfKey(tx: Tx, workspaceId: string, key: string): Promise<KeyHolder | undefined> {
  return oneRow(tx, 'SELECT id, name, state FROM definitions WHERE workspace_id = $1 AND key = $2', [workspaceId, key]);
}
