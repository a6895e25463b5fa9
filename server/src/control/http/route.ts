import type { Static, TObject, TSchema } from 'typebox';
import type { Tx } from '../../store/open-store.ts';
import type { Actor } from '../access/actor.ts';
import type { Audit } from './audit-change.ts';
import type { ControlNeeds } from './control-needs.ts';
import type { Permission } from '../access/permissions.ts';
import type { FieldError } from '../problems/problems.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type ApiUrl = `/api/v1/${string}`;

type NameIn<Url extends string> = Url extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NameIn<Rest>
  : Url extends `${string}:${infer Name}`
    ? Name
    : never;

/** The url `/api/v1/sources/:id/write-keys/:keyId` has the params `{ id: string; keyId: string }`. */
export type Params<Url extends string> = Record<NameIn<Url>, string>;

/** A request that is authenticated, authorized and validated, in a transaction that sees one workspace. */
export type ApiRequest<Path = unknown, Body = unknown, Query = unknown> = {
  actor: Actor;
  params: Path;
  body: Body;
  query: Query;
  tx: Tx;
  audit: Audit;
  prepared?: unknown;
};

/** A request that reads NATS. No transaction is open while NATS answers: `inWorkspace` opens short ones. */
export type EngineRequest<Path = unknown, Body = unknown, Query = unknown> = Omit<
  ApiRequest<Path, Body, Query>,
  'tx' | 'audit'
> & {
  inWorkspace<T>(work: (tx: Tx, audit: Audit) => Promise<T>): Promise<T>;
};

/** Contents of events and deliveries, traits, and ids of people in an answer: for `payloads:read`, and each read is audited. */
export type Payloads = {
  /** The answer for readers without the permission; without it the endpoint refuses them. */
  hide?(answer: never): unknown;
  /** Whether the request itself asks about contents, so that even a count would tell of them. */
  asksAbout?(asked: { query: never; body: never }): boolean;
};

/** One endpoint of the API, as data: the server, the OpenAPI file and the table of permissions are made of these. */
export type Route = {
  method: Method;
  url: ApiUrl;
  summary: string;
  permission: Permission;
  /** A second permission, for an endpoint that also shows things of another kind. */
  alsoNeeds?: Permission;
  /** Set where the answer holds payloads. */
  payloads?: Payloads;
  /** Set where the answer holds write keys: the audit log tells of the read. */
  showsWriteKeys?: boolean;
  body?: TSchema;
  /** Says more about a wrong body than its schema can, and is asked first. */
  check?(body: unknown): FieldError[];
  query?: TObject;
  answer?: TSchema;
  status: 200 | 201 | 202 | 204;
  /** Costs more than a query of PostgreSQL: a workspace, and each token or user of it, may run only a few at a time. */
  isCostly?: boolean;
  /** Asks a deliver process and waits for a receiver: these requests have a share of their own. */
  asksDeliver?: boolean;
  /** Compute is told after the commit. */
  changesDefinitions?: boolean;
  /** Reads NATS before the transaction begins; the handler gets the result as `prepared`. */
  prepare?(request: EngineRequest<never, never, never>, needs: ControlNeeds): Promise<unknown>;
  /** Answers outside of any transaction, in place of `handle`. */
  ask?(request: EngineRequest<never, never, never>, needs: ControlNeeds): Promise<unknown>;
  handle?(request: ApiRequest<never, never, never>, needs: ControlNeeds): Promise<unknown>;
  /** Answers with lines of JSON (NDJSON) as they come, in place of `handle`. */
  lines?(request: EngineRequest<never, never, never>, needs: ControlNeeds): AsyncIterable<string>;
};

type Typed<Url extends ApiUrl, Body extends TSchema, Query extends TObject> = Omit<
  Route,
  'url' | 'body' | 'query' | 'prepare' | 'ask' | 'handle'
> & { url: Url; body?: Body; query?: Query };

type Handled<Url extends ApiUrl, Body extends TSchema, Query extends TObject> = Typed<Url, Body, Query> & {
  prepare?(request: EngineRequest<Params<Url>, Static<Body>, Static<Query>>, needs: ControlNeeds): Promise<unknown>;
  handle(request: ApiRequest<Params<Url>, Static<Body>, Static<Query>>, needs: ControlNeeds): Promise<unknown>;
};

type Asking<Url extends ApiUrl, Body extends TSchema, Query extends TObject> = Typed<Url, Body, Query> & {
  ask(request: EngineRequest<Params<Url>, Static<Body>, Static<Query>>, needs: ControlNeeds): Promise<unknown>;
};

/** Gives the handler the types of its url and its schemas. */
export function route<Url extends ApiUrl, Body extends TSchema, Query extends TObject>(
  definition: Handled<Url, Body, Query>,
): Route {
  return definition;
}

/** An endpoint that reads NATS: costly, and outside of any transaction. */
export function engineRoute<Url extends ApiUrl, Body extends TSchema, Query extends TObject>(
  definition: Asking<Url, Body, Query>,
): Route {
  return { ...definition, isCostly: true };
}

/** An endpoint whose answer may be too large for memory: lines of JSON, sent as they are read. */
export function linesRoute<Url extends ApiUrl>(
  definition: Omit<Typed<Url, TSchema, TObject>, 'body' | 'query' | 'lines'> & {
    lines(request: EngineRequest<Params<Url>>, needs: ControlNeeds): AsyncIterable<string>;
  },
): Route {
  return { ...definition, isCostly: true };
}

/** An endpoint that asks a deliver process. */
export function deliverRoute<Url extends ApiUrl, Body extends TSchema, Query extends TObject>(
  definition: Asking<Url, Body, Query>,
): Route {
  return { ...definition, asksDeliver: true };
}
