/** The filters and the chosen row of the live tail, as the URL has them. */
export type LiveSearch = {
  type?: string | undefined;
  event?: string | undefined;
  userId?: string | undefined;
  /** `accepted` or `refused`; both without it. */
  only?: string | undefined;
  /** The row in the drawer: its messageId, or `#` and its number. */
  show?: string | undefined;
};

export type ChangeSearch = (to: Partial<LiveSearch>) => void;

export const CALL_TYPES = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const;

export function isFiltered({ type, event, userId, only }: LiveSearch): boolean {
  return [type, event, userId, only].some((value) => value !== undefined);
}

/** The filters in words: "track calls named “Order Completed” of u_1". */
export function inWords({ type, event, userId, only }: LiveSearch): string {
  const kind = only === undefined ? '' : `${only} `;
  const named = event === undefined ? '' : ` named “${event}”`;
  const of = userId === undefined ? '' : ` of user ${userId}`;
  return `${kind}${type === undefined ? '' : `${type} `}calls${named}${of}`;
}
