/** The configuration of a workspace as a file holds it: names are keys, and everything that is not said has its default. */
import type { FilterRule } from '@millrace/contract';
import type { Definition } from '@millrace/contract/audiences';

export type WorkspaceConfig = {
  sources: Record<string, SourceConfig>;
  /** By key. Undefined: the file says nothing of them, and they are left alone. */
  definitions?: Record<string, DefinitionConfig>;
};

/**
 * An audience or a computed trait. Sources are names, destinations the names of a source and its destination, and an audience that the
 * condition asks for is its key.
 */
export type DefinitionConfig = { definition: Definition; destinations: DestinationName[] };
export type DestinationName = { source: string; destination: string };

export type SourceConfig = {
  enabled: boolean;
  /** Null: the limit of the installation. */
  rateLimitPerSecond: number | null;
  /** Labels of write keys that must be there. The keys themselves differ from server to server. */
  writeKeys: string[];
  blockedEvents: string[];
  destinations: Record<string, DestinationConfig>;
};

export type DestinationConfig = {
  catalog: string;
  enabled: boolean;
  paused: boolean;
  filters: FilterRule[];
  /** Secrets are references, `${env:NAME}` or `${keep}`. */
  settings: Record<string, unknown>;
  /** The settings of a file before references were resolved: a plan shows these. */
  written?: Record<string, unknown>;
};

/** A workspace as the server has it: the same, with ids, and with `{"set": true}` in place of each secret. */
export type CurrentWorkspace = {
  sources: Map<string, CurrentSource>;
  /** By key. */
  definitions: Map<string, CurrentDefinition>;
  schemas: ReadonlyMap<string, object>;
};
export type CurrentSource = {
  id: string;
  config: Omit<SourceConfig, 'destinations'>;
  destinations: Map<string, CurrentDestination>;
};
export type CurrentDestination = { id: string; config: DestinationConfig };
export type CurrentDefinition = { id: string; config: DefinitionConfig };

export const FILE_VERSION = 1;
export const DEFAULT_CATALOG = 'Webhooks';
