/** A number is sent as its decimal text, so that databases which count their users need no conversion. */
export type Id = string | number;

/** Anything JSON can hold, in an object. */
export type JsonFields = object;

export interface CallFields {
  /** What the service recognises a repeated call by, at most 256 characters; made by the client when left out. */
  messageId?: Id | null | undefined;
  /** When it happened: the time of the call unless given. A past time is a historical import. */
  timestamp?: Date | string | number | null | undefined;
  /** What surrounded the call: device, page, address. */
  context?: JsonFields | null | undefined;
  /** Which destinations may have it, by their names: `{ All: false, Webhooks: true }`. */
  integrations?: JsonFields | null | undefined;
}

/** Somebody has to be named, by one id or by both. */
export type Identified =
  | { userId: Id; anonymousId?: Id | null | undefined }
  | { userId?: Id | null | undefined; anonymousId: Id };

export type IdentifyCall = CallFields & Identified & { traits?: JsonFields | null | undefined };

export type TrackCall = CallFields & Identified & { event: string; properties?: JsonFields | null | undefined };

export type PageCall = CallFields &
  Identified & {
    name?: string | null | undefined;
    category?: string | null | undefined;
    properties?: JsonFields | null | undefined;
  };

export type ScreenCall = PageCall;

export type GroupCall = CallFields & Identified & { groupId: Id; traits?: JsonFields | null | undefined };

export type AliasCall = CallFields & { userId: Id; previousId: Id; anonymousId?: Id | null | undefined };

export interface CallByType {
  identify: IdentifyCall;
  track: TrackCall;
  page: PageCall;
  screen: ScreenCall;
  group: GroupCall;
  alias: AliasCall;
}

export type CallType = keyof CallByType;
