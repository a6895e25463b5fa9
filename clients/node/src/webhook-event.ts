/** The fields of every delivered body. */
interface Delivered {
  version: 1;
  timestamp: string;
  context: Record<string, unknown>;
}

interface Sender {
  /** At least one of the two is there. */
  userId?: string;
  anonymousId?: string;
}

export interface IdentifyWebhook extends Delivered, Sender {
  type: 'identify';
  traits: Record<string, unknown>;
}

export interface TrackWebhook extends Delivered, Sender {
  type: 'track';
  event: string;
  properties: Record<string, unknown>;
}

export interface PageWebhook extends Delivered, Sender {
  type: 'page';
  name?: string;
  category?: string;
  properties: Record<string, unknown>;
}

export interface ScreenWebhook extends Delivered, Sender {
  type: 'screen';
  name: string;
  properties?: Record<string, unknown>;
}

export interface GroupWebhook extends Delivered, Sender {
  type: 'group';
  groupId: string;
  traits: Record<string, unknown>;
}

export interface AliasWebhook extends Delivered {
  type: 'alias';
  'Previous ID': string;
  'User ID': string;
  anonymousId?: string;
}

/** A user is to be forgotten; it says nothing else of them. */
export interface DeleteWebhook {
  type: 'delete';
  userId: string;
  timestamp: string;
}

/** A body in the `documented` format; `type` tells which. */
export type WebhookEvent =
  | IdentifyWebhook
  | TrackWebhook
  | PageWebhook
  | ScreenWebhook
  | GroupWebhook
  | AliasWebhook
  | DeleteWebhook;

/** An event of a batch. */
export interface BatchedWebhook {
  /** The same for every attempt to deliver this event: receivers recognise a repeated one by it. */
  id: string;
  /** From 1. */
  attempt: number;
  /** Sorts as text, byte by byte: of one source, the event that was received earlier has the lower one. Older servers gave none in batches. */
  order?: string;
  event: WebhookEvent;
}
