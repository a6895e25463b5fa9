import type { Static, TObject, TSchema } from 'typebox';
import type { Tx } from '../../store/open-store.ts';
import type { Actor } from '../access/actor.ts';
import type { ControlNeeds } from './control-needs.ts';
import type { Permission } from '../access/permissions.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What a handler gets, parsed and allowed: it only has to do its work, in a transaction that sees one workspace. */
export type Asked<Body = unknown, Query = unknown> = {
  actor: Actor;
  params: Record<string, string>;
  body: Body;
  query: Query;
  tx: Tx;
  prepared?: unknown;
};

/** What is asked of the engine. No transaction is open while it answers: `inWorkspace` opens short ones. */
export type Question<Body = unknown, Query = unknown> = Omit<Asked<Body, Query>, 'tx'> & {
  inWorkspace<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
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
  /** Costs more than a look into PostgreSQL: a workspace, and each token or user of it, may ask a few at a time. */
  isCostly?: boolean;
  /** Reads the engine before the transaction begins; the handler gets it as `prepared`. */
  prepare?(asked: Question<never, never>, needs: ControlNeeds): Promise<unknown>;
  /** Answers outside of any transaction, in place of `handle`. */
  ask?(asked: Question<never, never>, needs: ControlNeeds): Promise<unknown>;
  handle(asked: Asked<never, never>, needs: ControlNeeds): Promise<unknown>;
};

type Typed<Body extends TSchema, Query extends TObject> = Omit<Route, 'body' | 'query' | 'handle'> & {
  body?: Body;
  query?: Query;
  handle(asked: Asked<Static<Body>, Static<Query>>, needs: ControlNeeds): Promise<unknown>;
};

type Asking<Body extends TSchema, Query extends TObject> = Omit<Typed<Body, Query>, 'handle' | 'ask'> & {
  ask(asked: Question<Static<Body>, Static<Query>>, needs: ControlNeeds): Promise<unknown>;
};

/** An endpoint that reads the engine: costly, and outside of any transaction. */
export function question<Body extends TSchema, Query extends TObject>(definition: Asking<Body, Query>): Route {
  const handle: Route['handle'] = ({ tx, ...asked }: Asked, needs) =>
    definition.ask({ ...(asked as Asked<never, never>), inWorkspace: (work) => work(tx) }, needs);
  return { ...definition, isCostly: true, handle };
}

/** Gives the handler the types of its schemas. */
export function route<Body extends TSchema, Query extends TObject>(definition: Typed<Body, Query>): Route {
  return definition;
}
