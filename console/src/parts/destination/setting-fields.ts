/** The settings of a catalog entry as fields of a form, read from its JSON Schema. Targets and secrets have editors of their own. */
type Property = {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  default?: unknown;
  secret?: boolean;
};

export type SettingField = {
  name: string;
  kind: 'choice' | 'number' | 'switch' | 'text';
  options: string[];
  minimum: number | undefined;
  maximum: number | undefined;
  preset: string;
  label: string;
  /** The setting in a list of changes. */
  short: string;
  about: string;
};

const WORDS: Readonly<Record<string, { short: string; label: string; about: string }>> = {
  successPolicy: {
    short: 'success policy',
    label: 'A delivery has arrived when',
    about:
      'Any: one target that answers 2xx is enough, the others are spares. All: each target is tried until it is settled.',
  },
  bodyFormat: {
    short: 'body format',
    label: 'Body of the requests',
    about:
      'Documented: the fields of the webhook format. Full: the stored event with messageId and all times. Batch: up to 100 events in one request, each in one of the two forms.',
  },
  order: {
    short: 'order',
    label: 'Order of events',
    about:
      'None: all travel side by side. User: of one user in one request, each goes when the one before was answered 2xx or given up.',
  },
  maxPerSecond: {
    short: 'rate limit',
    label: 'Requests a second, at most',
    about: 'Empty: no limit. More than that wait in the lane.',
  },
  maxConcurrency: {
    short: 'limit of parallel requests',
    label: 'Requests at the same time, at most',
    about: 'Empty: Millrace decides by how the receiver keeps up.',
  },
};

export const OPTION_WORDS: Readonly<Record<string, string>> = {
  any: 'any answers 2xx',
  all: 'all answer 2xx',
  documented: 'documented',
  full: 'full',
  none: 'none',
  user: 'by user, within a request',
  batch: 'batch of documented',
  'batch-full': 'batch of full',
};

/** The body of one event, which a batch has inside. */
export function eventFormat(bodyFormat: unknown): 'documented' | 'full' {
  return bodyFormat === 'full' || bodyFormat === 'batch-full' ? 'full' : 'documented';
}

/** The body format of a destination in words. */
export function bodyWords(bodyFormat: unknown): string {
  return OPTION_WORDS[settingText(bodyFormat)] ?? 'documented';
}

export function settingFields(schema: Record<string, unknown> | undefined): SettingField[] {
  const properties = (schema?.properties ?? {}) as Record<string, Property>;
  return Object.entries(properties)
    .filter(([name, property]) => name !== 'targets' && property.secret !== true && kindOf(property) !== undefined)
    .map(([name, property]) => ({
      name,
      kind: kindOf(property) ?? 'text',
      options: (property.enum ?? []).map(String),
      minimum: property.minimum,
      maximum: property.maximum,
      preset: settingText(property.default),
      label: WORDS[name]?.label ?? name,
      short: WORDS[name]?.short ?? name,
      about: WORDS[name]?.about ?? '',
    }));
}

function kindOf(property: Property): SettingField['kind'] | undefined {
  if (property.enum !== undefined) return 'choice';
  if (property.type === 'integer' || property.type === 'number') return 'number';
  if (property.type === 'boolean') return 'switch';
  return property.type === 'string' ? 'text' : undefined;
}

export function settingText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

export function settingValue({ kind }: SettingField, text: string): string | number | boolean {
  if (kind === 'number') return Number(text);
  return kind === 'switch' ? text === 'true' : text;
}
