import type crypto from 'node:crypto';
import type fs from 'node:fs';
import type http from 'node:http';
import type https from 'node:https';
import type path from 'node:path';
import type zlib from 'node:zlib';

type Builtins = {
  'node:crypto': typeof crypto;
  'node:fs': typeof fs;
  'node:http': typeof http;
  'node:https': typeof https;
  'node:path': typeof path;
  'node:zlib': typeof zlib;
};

/** Asked for once: Node goes through all exports of a module each time it is asked. */
const found = new Map<keyof Builtins, Builtins[keyof Builtins] | undefined>();

/**
 * A module of Node's, or undefined where there is none: asked for at run time, because an import would keep the whole
 * package from loading on the runtimes that have only `fetch`.
 */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  if (!found.has(name)) found.set(name, hasBuiltins() ? process.getBuiltinModule(name) : undefined);
  return found.get(name) as Builtins[Name] | undefined;
}

function hasBuiltins(): boolean {
  return typeof process !== 'undefined' && typeof process.getBuiltinModule === 'function';
}
