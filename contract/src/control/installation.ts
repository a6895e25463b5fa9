/** The installation above its workspaces, for operators: their list, and every workspace by its numbers. */
import { type Static, Type } from 'typebox';
import { Id, PageOf, Time } from './page.ts';

const Count = Type.Integer({ minimum: 0 });

export const Operator = Type.Object({
  /** Of a user or a token. */
  id: Type.String(),
  kind: Type.Enum(['user', 'token']),
  name: Type.String(),
  /** Null for a token. */
  email: Type.Union([Type.String(), Type.Null()]),
  /** The operator who added them; `migration`, `bootstrap` or `command` for those whom Millrace itself added. */
  addedBy: Type.String(),
  addedAt: Time,
});
export const Operators = Type.Object({
  items: Type.Array(Operator),
  /** True while no person was added: then the owners of the first workspace are the operators. */
  areFirstOwners: Type.Boolean(),
});
/** A member, or a token, of the workspace that you are in. */
export const NewOperator = Type.Object(
  { id: Type.String({ pattern: '^(usr|tok)_', maxLength: 100 }) },
  { additionalProperties: false },
);

/** Numbers alone: an operator sees nothing that a workspace holds. */
export const InstallationWorkspace = Type.Object({
  id: Id('ws'),
  name: Type.String(),
  createdAt: Time,
  /** Set when its deletion was asked for. */
  endsAt: Type.Union([Time, Type.Null()]),
  members: Count,
  sources: Count,
  destinations: Count,
  definitions: Count,
  /** Accepted calls of this month and of the month before. */
  calls: Count,
  callsBefore: Count,
});
export const InstallationWorkspaces = PageOf(InstallationWorkspace);

export type Operator = Static<typeof Operator>;
export type InstallationWorkspace = Static<typeof InstallationWorkspace>;
