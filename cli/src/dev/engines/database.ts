import type { Engine } from './spawn-engine.ts';

export type Database = Engine & {
  /** One login owns the tables, the other one serves; PGlite has one for both. */
  urls: { owner: string; service: string };
};
