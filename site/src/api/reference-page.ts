/** The pages of the API reference, one for each tag of openapi.json, as Markdown: the search, llms.txt and the link check see them. */
import { exampleValue } from './example-value.ts';
import {
  type Endpoint,
  endpointsOf,
  type OpenApi,
  type Parameter,
  resolveParameter,
  resolveSchema,
  type Schema,
} from './openapi.ts';
import { type Field, fieldsOf, typeOf } from './schema-fields.ts';

const JSON_TYPE = 'application/json';
/** A longer example hides its endpoint. */
const MAX_EXAMPLE_LINES = 60;

export function titleOf(tag: string): string {
  const words = tag.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function referencePage(api: OpenApi, tag: string): string {
  const about = api.tags.find(({ name }) => name === tag)?.description ?? '';
  const sections = endpointsOf(api, tag).map((endpoint) => endpointSection(api, endpoint));
  return [`# ${titleOf(tag)}`, `${plain(about)}.`, ...sections].join('\n\n');
}

function endpointSection(api: OpenApi, endpoint: Endpoint): string {
  const { method, path, summary, description, operationId } = endpoint;
  return [
    `## ${plain(summary)} {#${operationId}}`,
    `<div class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span><code v-pre>${path}</code></div>`,
    description === undefined ? '' : plain(description),
    accessLine(endpoint),
    parameterTable(api, endpoint.parameters ?? []),
    requestPart(api, endpoint),
    ...Object.entries(endpoint.responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, { content }]) => answerPart(api, status, content?.[JSON_TYPE]?.schema)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function accessLine({ security = [], 'x-permission': permission }: Endpoint): string {
  if (security.length === 0) return 'Needs no token.';
  const ways = security
    .flatMap((each) => Object.keys(each))
    .map((way) => (way === 'token' ? 'an API token' : 'a session'));
  const needs = `Needs ${[...new Set(ways)].join(' or ')}`;
  return permission === undefined ? `${needs}.` : `${needs} with \`${permission}\`.`;
}

function parameterTable(api: OpenApi, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters
    .map((parameter) => resolveParameter(api, parameter))
    .map(({ name, in: place, required = false, description = '', schema }) =>
      row([`\`${name}\``, place, `${plain(typeOf(api, schema))}${required ? ', required' : ''}`, plain(description)]),
    );
  return ['| parameter | in | type | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function requestPart(api: OpenApi, endpoint: Endpoint): string {
  const schema = endpoint.requestBody?.content?.[JSON_TYPE]?.schema;
  if (schema === undefined) return exampleRequest(endpoint, undefined);
  const example = exampleRequest(endpoint, exampleValue(api, schema, true));
  return ['**Body**', fieldTable(fieldsOf(api, schema)), example].filter((part) => part !== '').join('\n\n');
}

function exampleRequest({ method, path, security = [] }: Endpoint, body: unknown): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$MILLRACE_URL${path.replaceAll(/\{(\w+)\}/g, '$$$1')}"`,
  ];
  if (security.length > 0) lines.push(`  -H "Authorization: Bearer $MILLRACE_TOKEN"`);
  if (body !== undefined) lines.push(`  -H 'Content-Type: application/json'`, `  -d '${JSON.stringify(body)}'`);
  return ['```sh', lines.join(' \\\n'), '```'].join('\n');
}

function answerPart(api: OpenApi, status: string, schema: Schema | undefined): string {
  if (schema === undefined) return `**Answer \`${status}\`**, without a body.`;
  const lines = JSON.stringify(exampleValue(api, schema, false), null, 2).split('\n');
  const shown = lines.length > MAX_EXAMPLE_LINES ? [...lines.slice(0, MAX_EXAMPLE_LINES), '  …'] : lines;
  const { description } = resolveSchema(api, schema);
  const fields = fieldTable(fieldsOf(api, schema));
  return [
    `**Answer \`${status}\`**${description === undefined ? '' : `: ${plain(description)}`}`,
    ['```json', ...shown, '```'].join('\n'),
    fields === '' ? '' : `<details>\n<summary>Fields of the answer</summary>\n\n${fields}\n\n</details>`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function fieldTable(fields: readonly Field[]): string {
  if (fields.length === 0) return '';
  const rows = fields.map(({ path, type, isRequired, meaning }) =>
    row([`\`${path}\``, `${plain(type)}${isRequired ? '' : ', optional'}`, plain(meaning)]),
  );
  return ['| field | type | meaning |', '|---|---|---|', ...rows].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

/** Text of the schema is no HTML and no template of Vue. */
function plain(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('{', '&#123;').replaceAll('*', '\\*');
}
