/** docs/use/openapi.json as far as the reference shows it. A test of the server holds that file against the endpoints. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from '../site-pages.ts';

export type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
};

export type Parameter = {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
};
export type Content = { content?: Record<string, { schema?: Schema }> };
export type Answer = Content & { $ref?: string; description?: string };
export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, unknown>[];
  'x-permission'?: string;
  parameters?: Parameter[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Answer>;
};

export type OpenApi = {
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    responses: Record<string, Answer>;
  };
};

/** An operation with its place. */
export type Endpoint = Operation & { method: string; path: string };

export function readOpenApi(): OpenApi {
  return JSON.parse(readFileSync(join(ROOT_DIR, 'docs/use/openapi.json'), 'utf8')) as OpenApi;
}

export function endpointsOf(api: OpenApi, tag: string): Endpoint[] {
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/** Follows references until there is something to show. */
export function resolveSchema(api: OpenApi, schema: Schema): Schema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1];
  const named = name === undefined ? undefined : api.components.schemas[name];
  return named === undefined ? schema : resolveSchema(api, named);
}

export function resolveParameter(api: OpenApi, parameter: Parameter): Parameter {
  const name = /^#\/components\/parameters\/(.+)$/.exec(parameter.$ref ?? '')?.[1];
  return (name === undefined ? undefined : api.components.parameters[name]) ?? parameter;
}
