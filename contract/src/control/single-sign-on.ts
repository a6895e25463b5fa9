/** Single sign-on: the connection of a workspace to an OpenID provider, and signing in by it. */
import { type Static, Type } from 'typebox';
import { Email, RoleNameSchema } from './access.ts';
import { Id, Time } from './page.ts';
import { CurrentPassword } from './password.ts';

const Issuer = Type.String({ minLength: 1, maxLength: 500 });
const ClientId = Type.String({ minLength: 1, maxLength: 500, pattern: '^[\\u0020-\\u007e]+$' });
const ClientSecret = Type.String({ minLength: 1, maxLength: 2_000, pattern: '^[\\u0020-\\u007e]+$' });
const Claim = Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\u0021-\\u007e]+$' });
const Domain = Type.String({
  maxLength: 253,
  pattern: '^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$',
});
const WorkspaceId = Type.String({ maxLength: 100 });

export const GroupRole = Type.Object(
  { group: Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f]*$' }), role: RoleNameSchema },
  { additionalProperties: false },
);
const GroupRoles = Type.Array(GroupRole, { maxItems: 100 });
const DefaultRole = Type.Union([RoleNameSchema, Type.Null()]);
const Domains = Type.Array(Domain, { maxItems: 20, uniqueItems: true });

export const NewConnection = Type.Object(
  {
    /** The address of the provider, as its discovery document names it. */
    issuer: Issuer,
    clientId: ClientId,
    clientSecret: ClientSecret,
    /** The claim that lists the groups of a person; `groups` without it. */
    groupsClaim: Type.Optional(Claim),
    /** A person gets the highest role of their groups, anew at each sign-in. Without any, owners and admins set roles by hand. */
    groupRoles: Type.Optional(GroupRoles),
    /** The role of people in none of these groups; null, or without it: they are not let in. */
    defaultRole: Type.Optional(DefaultRole),
    /** Addresses of people have to be in one of them; without any, each address is taken. */
    domains: Type.Optional(Domains),
  },
  { additionalProperties: false },
);

/** Another `issuer` or `clientId` needs the `clientSecret`, too: a stored secret goes to no other place. */
export const ConnectionChange = Type.Object(
  {
    ...Type.Partial(NewConnection).properties,
    /** Members reach the workspace by single sign-on alone, but for break-glass owners; tokens stay as they are. */
    required: Type.Optional(Type.Boolean()),
    /** Ids of owners with a password, who reach the workspace with it in any case. */
    breakGlassOwners: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 20, uniqueItems: true })),
  },
  { additionalProperties: false },
);

export const ConnectionDomain = Type.Object({
  domain: Type.String(),
  /** Since when people with such an address are led to the provider; null until its DNS record was found. */
  verifiedAt: Type.Union([Time, Type.Null()]),
  /** The TXT record that proves the domain. */
  record: Type.Object({ name: Type.String(), value: Type.String() }),
});

/** Without the client secret, which no answer ever holds. */
export const Connection = Type.Object({
  id: Id('sso'),
  issuer: Type.String(),
  clientId: Type.String(),
  groupsClaim: Type.String(),
  groupRoles: Type.Array(GroupRole),
  defaultRole: DefaultRole,
  domains: Type.Array(ConnectionDomain),
  required: Type.Boolean(),
  breakGlassOwners: Type.Array(Type.String()),
  lastSignInAt: Type.Union([Time, Type.Null()]),
  createdAt: Time,
  updatedAt: Time,
});

export const SingleSignOn = Type.Object({
  /** The addresses of this workspace that the provider needs; null where the installation does not know its own address. */
  addresses: Type.Union([
    Type.Object({
      /** The redirect URI. */
      redirectUri: Type.String(),
      /** Where the provider sends a browser after it signed out. */
      signedOutUri: Type.String(),
      /** Starts to sign in; for bookmarks and for the provider's list of applications. */
      signInUrl: Type.String(),
    }),
    Type.Null(),
  ]),
  connection: Type.Union([Connection, Type.Null()]),
});

export const VerifyDomain = Type.Object({ domain: Domain }, { additionalProperties: false });

export const ConnectionCheck = Type.Object({
  ok: Type.Boolean(),
  steps: Type.Array(
    Type.Object({
      step: Type.Enum(['address', 'discovery', 'features', 'keys', 'client']),
      ok: Type.Boolean(),
      detail: Type.String(),
    }),
  ),
});

/** One of the two: an address of a verified domain, or the workspace. */
export const StartSingleSignOn = Type.Object(
  { email: Type.Optional(Email), workspaceId: Type.Optional(WorkspaceId) },
  { additionalProperties: false },
);
export const LinkSingleSignOn = Type.Object(
  { workspaceId: WorkspaceId, password: CurrentPassword },
  { additionalProperties: false },
);
/** The page of the provider that the browser goes to. */
export const StartedSingleSignOn = Type.Object({ url: Type.String() });

export const FinishSingleSignOn = Type.Object(
  {
    workspaceId: WorkspaceId,
    /** The query of the redirect URI as the provider has called it, without its `?`. */
    query: Type.String({ maxLength: 8_000 }),
  },
  { additionalProperties: false },
);
/** `linked`: the account that is signed in can sign in by the provider from now on. */
export const FinishedSingleSignOn = Type.Object({ kind: Type.Enum(['signed_in', 'linked']) });

export type SingleSignOn = Static<typeof SingleSignOn>;
export type Connection = Static<typeof Connection>;
export type NewConnection = Static<typeof NewConnection>;
export type ConnectionChange = Static<typeof ConnectionChange>;
export type ConnectionCheck = Static<typeof ConnectionCheck>;
export type StartedSingleSignOn = Static<typeof StartedSingleSignOn>;
export type FinishedSingleSignOn = Static<typeof FinishedSingleSignOn>;
