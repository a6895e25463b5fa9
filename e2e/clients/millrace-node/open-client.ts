import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { NodeClient } from '../node-story.ts';

export type Counts = { sent: number; failed: number; dropped: number };

export type MillraceClient = NodeClient & { close(): Promise<Counts>; track(call: object): void };

type Package = { Millrace: new (writeKey: string, options: object) => MillraceClient };

/** From the packed package, as a user has it. */
export async function openClient(directory: string, writeKey: string, options: object): Promise<MillraceClient> {
  const { Millrace } = (await import(pathToFileURL(join(directory, 'dist/index.js')).href)) as Package;
  return new Millrace(writeKey, options);
}
