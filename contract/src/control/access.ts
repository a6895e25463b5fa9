import { type Static, Type } from 'typebox';
import { Id, Name, PageOf, Time } from './page.ts';
import { CurrentPassword, NewPassword } from './password.ts';

export const RoleNameSchema = Type.Union([
  Type.Literal('owner'),
  Type.Literal('admin'),
  Type.Literal('developer'),
  Type.Literal('viewer'),
  Type.Literal('viewer-without-payloads'),
]);

export const Email = Type.String({ format: 'email', maxLength: 254 });

export const Workspace = Type.Object({
  id: Id('ws'),
  name: Name,
  createdAt: Time,
  /** Members without a second factor reach only their own account. */
  needsSecondFactor: Type.Boolean(),
  /** Set when its deletion was asked for: until then it can be undone, afterwards everything is removed. */
  endsAt: Type.Union([Time, Type.Null()]),
});
/** Both guard against a wrong click: the name of the workspace, and the password of your account. */
export const WorkspaceDeletion = Type.Object(
  { name: Type.String({ maxLength: 1_000 }), password: CurrentPassword },
  { additionalProperties: false },
);
export const WorkspaceChange = Type.Object({ name: Name }, { additionalProperties: false });
export const NewWorkspace = Type.Object({ name: Name }, { additionalProperties: false });
/** The member who becomes an owner. */
export const WorkspaceTransfer = Type.Object(
  { userId: Type.String({ maxLength: 100 }) },
  { additionalProperties: false },
);

export const Bootstrap = Type.Object(
  { workspace: Name, email: Email, name: Name, password: NewPassword },
  { additionalProperties: false },
);

export const SignIn = Type.Object({ email: Email, password: CurrentPassword }, { additionalProperties: false });
export const PasswordChange = Type.Object(
  { currentPassword: CurrentPassword, newPassword: NewPassword },
  { additionalProperties: false },
);
export const Me = Type.Object({
  user: Type.Union([
    Type.Object({
      id: Type.String(),
      email: Type.String(),
      name: Type.String(),
      hasSecondFactor: Type.Boolean(),
      /** Single sign-on made the account: it has no password, and its provider has its name and address. */
      isManaged: Type.Boolean(),
    }),
    Type.Null(),
  ]),
  token: Type.Union([Type.Object({ id: Type.String(), name: Type.String() }), Type.Null()]),
  workspaces: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      role: RoleNameSchema,
      needsSecondFactor: Type.Boolean(),
      /** The workspace opens by single sign-on alone, and this session was started with a password. */
      needsSingleSignOn: Type.Boolean(),
      /** Whether the workspace has single sign-on, and this account is linked with its provider. */
      singleSignOn: Type.Enum(['none', 'possible', 'linked']),
    }),
  ),
  /** Set when single sign-on started this session: it opens one workspace, and changes no account. */
  singleSignOn: Type.Union([
    Type.Object({
      /** Where the browser signs out at the provider, too; null where the provider has no such page. */
      signOutUrl: Type.Union([Type.String(), Type.Null()]),
    }),
    Type.Null(),
  ]),
  /** Whether you run this installation; see docs/use/accounts.md. */
  isOperator: Type.Boolean(),
});

export const Session = Type.Object({
  id: Type.String(),
  /** Where it began. */
  address: Type.String(),
  /** Where it was last used from. */
  lastAddress: Type.String(),
  /** The browser in which it began. The session ends when its cookie comes from another kind of browser. */
  userAgent: Type.String(),
  createdAt: Time,
  lastSeenAt: Time,
  /** When it ends in any case; without use it ends 12 hours after `lastSeenAt`. */
  expiresAt: Time,
  isCurrent: Type.Boolean(),
  /** Single sign-on started it, and it opens one workspace. */
  isSingleSignOn: Type.Boolean(),
});
export const Sessions = Type.Object({ items: Type.Array(Session) });

export const Member = Type.Object({
  userId: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: RoleNameSchema,
  hasSecondFactor: Type.Boolean(),
  createdAt: Time,
  /** Single sign-on made the account, which is in this workspace alone. */
  isManaged: Type.Boolean(),
  /** Reaches the workspace with the password although single sign-on is required. */
  isBreakGlass: Type.Boolean(),
});
export const Members = Type.Object({ items: Type.Array(Member) });

/** The person it is for chooses a password, or uses the account they have. */
export const NewInvitation = Type.Object({ email: Email, role: RoleNameSchema }, { additionalProperties: false });
export const Invitation = Type.Object({
  id: Id('inv'),
  email: Type.String(),
  role: RoleNameSchema,
  createdBy: Type.String(),
  createdAt: Time,
  expiresAt: Time,
});
export const Invitations = PageOf(Invitation);
/** The only answer that ever holds the link, which works once. */
export const CreatedInvitation = Type.Object({
  ...Invitation.properties,
  /** Where the installation sends mail, the link goes to the invited address and nowhere else. */
  sentByMail: Type.Boolean(),
  token: Type.Optional(Type.String()),
  /** A path of the console; the inviter sends it, with the console's address in front, to the person. */
  link: Type.Optional(Type.String()),
});
/** `name` and a new `password` for people without an account; people with one give its password, and keep their name. */
export const AcceptInvitation = Type.Object(
  { token: Type.String({ maxLength: 200 }), name: Name, password: NewPassword },
  { additionalProperties: false },
);
export const JoinWorkspace = Type.Object({ token: Type.String({ maxLength: 200 }) }, { additionalProperties: false });
export const MemberChange = Type.Object({ role: RoleNameSchema }, { additionalProperties: false });

export const Token = Type.Object({
  id: Id('tok'),
  name: Name,
  role: RoleNameSchema,
  scopes: Type.Union([Type.Array(Type.String()), Type.Null()]),
  /** The last characters, to tell tokens apart. */
  hint: Type.String(),
  /** The user or token that made it. The token never has more rights than its maker has now, and ends with its maker. */
  createdBy: Type.String(),
  /** False for a token of an older version whose maker is gone: check whether it is still needed. */
  endsWithMaker: Type.Boolean(),
  /** The role that it has now: lower than `role` when a maker has lost rights, null when it has ended by time or with a maker. */
  roleNow: Type.Union([RoleNameSchema, Type.Null()]),
  createdAt: Time,
  expiresAt: Type.Union([Time, Type.Null()]),
  /** To the minute. */
  lastUsedAt: Type.Union([Time, Type.Null()]),
  /** Where the first request of that minute came from. */
  lastUsedAddress: Type.Union([Type.String(), Type.Null()]),
});
export const Tokens = PageOf(Token);
export const NewToken = Type.Object(
  {
    name: Name,
    role: RoleNameSchema,
    scopes: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 50 })),
    expiresAt: Type.Optional(Time),
  },
  { additionalProperties: false },
);
/** The only answer that ever holds the token itself. */
export const CreatedToken = Type.Object({ ...Token.properties, token: Type.String() });

export const AuditEntry = Type.Object({
  sequence: Type.Integer(),
  at: Time,
  actor: Type.Record(Type.String(), Type.String()),
  action: Type.String(),
  objectId: Type.String(),
  details: Type.Record(Type.String(), Type.Unknown()),
});
export const AuditEntries = PageOf(AuditEntry);

export type Me = Static<typeof Me>;
export type Member = Static<typeof Member>;
export type Token = Static<typeof Token>;
export type Workspace = Static<typeof Workspace>;
