import { shortId } from './texts.ts';

type List = { items: readonly { id: string; name: string }[]; nextCursor: string | null };

/** The name of a thing in a list; `deleted` only when the list is there and whole, and else its id. */
export function nameIn(list: List | undefined, id: string, deleted: string): string {
  return list?.items.find((item) => item.id === id)?.name ?? (list?.nextCursor === null ? deleted : shortId(id));
}
