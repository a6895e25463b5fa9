import { ApiProblem } from '../problems/problems.ts';
import type { Page } from '../../store/rows.ts';

export type PageParams = { limit?: number; cursor?: string };

/** Reads one row more than the page holds, to know whether there is a next page. */
export function readPage({ limit = 50, cursor }: PageParams): Page {
  return { limit: limit + 1, after: cursor === undefined ? undefined : readCursor(cursor) };
}

export function toPage<Row, Item>(
  rows: Row[],
  page: Page,
  { item, key }: { item(row: Row): Item; key(row: Row): string },
) {
  const kept = rows.slice(0, page.limit - 1);
  const last = kept.at(-1);
  const hasMore = rows.length === page.limit && last !== undefined;
  return { items: kept.map(item), nextCursor: hasMore ? cursorOf(key(last)) : null };
}

export function cursorOf(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function readCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  // PostgreSQL stores no NUL, so no row has one in its key.
  const isText = text !== '' && !text.includes('\u0000');
  if (!isText || Buffer.from(text).toString('base64url') !== cursor) throw new ApiProblem('invalid_cursor');
  return text;
}
