import type { TObject, TSchema } from 'typebox';
import type { Actor } from '../access/actor.ts';
import type { ControlNeeds } from './control-needs.ts';
import type { Permission } from '../access/permissions.ts';

export type StreamEvent = { kind: string } & Record<string, unknown>;

/** To the one who looks on. False when they read too slowly for it. */
export type Send = (event: StreamEvent) => boolean;

export type Watching = { actor: Actor; params: Record<string, string>; query: unknown };

/** An endpoint that goes on answering, with server-sent events, until one of both ends it. */
export type StreamRoute = {
  isStream: true;
  method: 'GET';
  url: `/api/v1/${string}`;
  summary: string;
  permission: Permission;
  query: TObject;
  /** Of each event's data. */
  answer: TSchema;
  status: 200;
  /** Throws when there is nothing to be seen; asked again and again. */
  check(watching: Watching, needs: ControlNeeds): Promise<void>;
  /** Begins to send; letting go of it stops. */
  open(watching: Watching, send: Send, needs: ControlNeeds): Disposable;
};
