import type { Static, TObject, TSchema } from 'typebox';
import type { Actor } from '../access/actor.ts';
import type { ControlNeeds } from './control-needs.ts';
import type { Permission } from '../access/permissions.ts';
import type { ApiUrl, Params } from './route.ts';

export type StreamEvent = { kind: string } & Record<string, unknown>;

/** Sends to the viewer. False when the viewer reads too slowly: then the event is dropped. */
export type Send = (event: StreamEvent) => boolean;

export type Watching<Path = unknown, Query = unknown> = { actor: Actor; params: Path; query: Query };

/** Set when it ends by itself: with the code of the last event. */
export type Sending = Disposable & { over?: Promise<string> };

/** An endpoint that goes on answering, with server-sent events or with lines of JSON (NDJSON), until the viewer or the server ends it. */
export type StreamRoute = {
  method: 'GET';
  url: ApiUrl;
  isStream: true;
  /** Without it server-sent events. */
  form?: 'lines';
  summary: string;
  permission: Permission;
  /** Set where the events hold payloads: then `payloads:read` is needed too, and each opened stream is audited. */
  payloads?: Record<string, never>;
  query: TObject;
  /** Of each event's data. */
  answer: TSchema;
  status: 200;
  /** How many a workspace may have open in a process; without it its limit of live tails. */
  mostOpen?: number;
  /** Throws when it cannot begin. Called once, before the stream opens. */
  begin?(watching: Watching<never, never>, needs: ControlNeeds): Promise<void>;
  /** Throws when there is nothing to be seen. Called before the stream opens and every few seconds while it is open. */
  check(watching: Watching<never, never>, needs: ControlNeeds): Promise<void>;
  /** Begins to send; disposing the result stops it. */
  open(watching: Watching<never, never>, send: Send, needs: ControlNeeds): Sending;
};

type Typed<Url extends ApiUrl, Query extends TObject> = Omit<
  StreamRoute,
  'url' | 'query' | 'begin' | 'check' | 'open'
> & {
  url: Url;
  query: Query;
  begin?(watching: Watching<Params<Url>, Static<Query>>, needs: ControlNeeds): Promise<void>;
  check(watching: Watching<Params<Url>, Static<Query>>, needs: ControlNeeds): Promise<void>;
  open(watching: Watching<Params<Url>, Static<Query>>, send: Send, needs: ControlNeeds): Sending;
};

/** Gives the endpoint the types of its url and its query. */
export function streamRoute<Url extends ApiUrl, Query extends TObject>(definition: Typed<Url, Query>): StreamRoute {
  return definition;
}
