import type { Static, TObject, TSchema } from 'typebox';
import type { Tx } from '../store/open-store.ts';
import type { Actor } from './actor.ts';
import type { ControlNeeds } from './control-needs.ts';
import type { Permission } from './permissions.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What a handler gets, parsed and allowed: it only has to do its work, in a transaction that sees one workspace. */
export type Asked<Body = unknown, Query = unknown> = {
  actor: Actor;
  params: Record<string, string>;
  body: Body;
  query: Query;
  tx: Tx;
};

/** One endpoint of the API, as data: the server, the OpenAPI file and the table of permissions are made of these. */
export type Route = {
  method: Method;
  url: `/api/v1/${string}`;
  summary: string;
  permission: Permission;
  body?: TSchema;
  query?: TObject;
  answer?: TSchema;
  status: 200 | 201 | 204;
  handle(asked: Asked<never, never>, needs: ControlNeeds): Promise<unknown>;
};

type Typed<Body extends TSchema, Query extends TObject> = Omit<Route, 'body' | 'query' | 'handle'> & {
  body?: Body;
  query?: Query;
  handle(asked: Asked<Static<Body>, Static<Query>>, needs: ControlNeeds): Promise<unknown>;
};

/** Gives the handler the types of its schemas. */
export function route<Body extends TSchema, Query extends TObject>(definition: Typed<Body, Query>): Route {
  return definition;
}
