/** A number is sent as its decimal text, so that databases which count their users need no conversion. */
export type Id = string | number;

/** Anything JSON can hold, in an object. */
export type JsonFields = object;

export interface CallFields {
  /** The service recognises a repeated call by it. At most 256 characters; the client makes one when it is left out. */
  messageId?: Id | null | undefined;
  /** When it happened: the time of the call unless given. A past time is a historical import. */
  timestamp?: Date | string | number | null | undefined;
  /** The circumstances of the call: device, page, address. */
  context?: JsonFields | null | undefined;
  /** Which destinations may have it, by their names: `{ All: false, Webhooks: true }`. */
  integrations?: JsonFields | null | undefined;
}

/** A call names its user by one id or by both. */
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
