export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue;
}

export const CALL_TYPES = ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const;

export type CallType = (typeof CALL_TYPES)[number];

/** The shape of a body, by the path of its request: one call of a known type, or calls that each name their own. */
export type RequestShape = CallType | 'batch';

interface EventFields {
  messageId: string;
  type: CallType;
  userId?: string;
  anonymousId?: string;
  groupId?: string;
  previousId?: string;
  properties?: JsonObject;
  traits?: JsonObject;
  context: JsonObject;
  integrations?: JsonObject;
  /** As the client wrote it, so that nothing is lost when we read it differently than they meant. */
  originalTimestamp?: string | number;
  sentAt?: string;
  receivedAt: string;
  /** When it happened by our clock; the client's own clock may be wrong. */
  timestamp: string;
  /** Any other field that the client sent. */
  [field: string]: JsonValue | undefined;
}

export interface TrackEvent extends EventFields {
  type: 'track';
  event: string;
}

export interface ViewEvent extends EventFields {
  type: 'page' | 'screen';
  name?: string;
  category?: string;
}

export interface IdentifyEvent extends EventFields {
  type: 'identify';
}

export interface GroupEvent extends EventFields {
  type: 'group';
  groupId: string;
}

export interface AliasEvent extends EventFields {
  type: 'alias';
  userId: string;
  previousId: string;
}

/** A call we took, and what we know of it; never changes. */
export type AcceptedEvent = TrackEvent | ViewEvent | IdentifyEvent | GroupEvent | AliasEvent;

/** Reads of a call go through this: any field may hold anything. */
export type UntrustedObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is UntrustedObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A switch and not a lookup in CALL_TYPES: this runs for every call that comes in. */
export function isCallType(value: unknown): value is CallType {
  switch (value) {
    case 'identify':
    case 'track':
    case 'page':
    case 'screen':
    case 'group':
    case 'alias':
      return true;
    default:
      return false;
  }
}

export function isRequestShape(value: unknown): value is RequestShape {
  return value === 'batch' || isCallType(value);
}
