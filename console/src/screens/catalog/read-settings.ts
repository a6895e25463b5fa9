/** The settings of a kind of destination, read from its JSON Schema with the marks of Millrace. Pure. */
export type Setting = { name: string; isRequired: boolean; isSecret: boolean; rule: string };

type Schema = Record<string, unknown>;

export function readSettings(schema: Schema, prefix = ''): Setting[] {
  const properties = objectOf(schema['properties']);
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return Object.entries(properties).flatMap(([name, value]) => {
    const property = objectOf(value);
    const own: Setting = {
      name: prefix + name,
      isRequired: required.has(name),
      isSecret: property['secret'] === true || isSecretMap(property),
      rule: ruleOf(property),
    };
    const items = objectOf(property['items']);
    return items['type'] === 'object' ? [own, ...readSettings(items, `${prefix}${name}[].`)] : [own];
  });
}

function ruleOf(property: Schema): string {
  const { enum: choices, default: usual } = property;
  const parts = [
    Array.isArray(choices) ? choices.map(String).join(' or ') : typeWords(property),
    typeof usual === 'string' || typeof usual === 'number' ? `${usual} unless set` : '',
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function typeWords(property: Schema): string {
  switch (property['type']) {
    case 'array':
      return `a list of ${between(property['minItems'], property['maxItems'])}`;
    case 'integer':
      return `a whole number, ${between(property['minimum'], property['maximum'])}`;
    case 'string':
      return `text of ${between(property['minLength'], property['maxLength'])} characters`;
    case 'object':
      return `names and values, ${between(undefined, property['maxProperties'])}`;
    default:
      return '';
  }
}

function between(least: unknown, most: unknown): string {
  const write = (value: unknown) => (typeof value === 'number' ? value.toLocaleString('en-US') : '');
  if (typeof least !== 'number') return `at most ${write(most)}`;
  return typeof most === 'number' ? `${write(least)} to ${write(most)}` : `at least ${write(least)}`;
}

function isSecretMap(property: Schema): boolean {
  return Object.values(objectOf(property['patternProperties'])).some((value) => objectOf(value)['secret'] === true);
}

function objectOf(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}
