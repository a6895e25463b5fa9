/** Workspaces share an installation: each has a limit of every shared thing. */
import { type Static, type TOptional, Type } from 'typebox';
import { LIMIT_NAMES, type LimitName } from '../limit-names.ts';
import { Id, PageOf } from './page.ts';

export { LIMIT_NAMES, type LimitName };

const OrNull = <Schema extends ReturnType<typeof Type.Number>>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** `near`: from four fifths on. `reached`: the next one is refused. `unknown`: the use cannot be counted now. */
export const LIMIT_STATES = ['below', 'near', 'reached', 'unknown'] as const;

export const LimitUse = Type.Object({
  name: Type.Enum([...LIMIT_NAMES]),
  title: Type.String(),
  unit: Type.String(),
  /** Null where no number is set: then the workspace has a share of what is free. */
  limit: OrNull(Type.Number()),
  /** The limit of a workspace that the operator did not give a number of its own. */
  default: OrNull(Type.Number()),
  /** Whether the operator gave this workspace a number of its own. */
  isOwn: Type.Boolean(),
  /** Null where it cannot be counted now. */
  used: OrNull(Type.Number()),
  state: Type.Enum([...LIMIT_STATES]),
  /** Operators of the installation alone. */
  raisedBy: Type.Enum(['operator']),
});
export const WorkspaceLimits = Type.Object({ workspaceId: Id('ws'), limits: Type.Array(LimitUse) });

/** The limits of a workspace with a number of its own, or with one that is near or reached. */
export const LimitedWorkspace = Type.Object({
  workspaceId: Id('ws'),
  name: Type.String(),
  limits: Type.Array(LimitUse),
});
export const LimitedWorkspaces = PageOf(LimitedWorkspace);

/** Null gives the default back. */
const NewLimit = Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000_000_000_000 }), Type.Null()]);
const newLimits = Object.fromEntries(LIMIT_NAMES.map((name) => [name, Type.Optional(NewLimit)]));
export const LimitsChange = Type.Object(
  {
    limits: Type.Object(newLimits as Record<LimitName, TOptional<typeof NewLimit>>, { additionalProperties: false }),
  },
  { additionalProperties: false },
);

export type LimitUse = Static<typeof LimitUse>;
export type LimitState = LimitUse['state'];
export type WorkspaceLimits = Static<typeof WorkspaceLimits>;
export type LimitedWorkspace = Static<typeof LimitedWorkspace>;
export type LimitsChange = Static<typeof LimitsChange>;
