/** Hosts that a workspace sends to, and the proof that each of them is its own. */
import { type Static, Type } from 'typebox';
import { PageOf, Time } from './page.ts';

/** The file on a host that proves it. The path holds nothing of the workspace: a host that echoes its requests proves nothing. */
export const PROOF_PATH = '/.well-known/millrace-proof';

/** A DNS record proves a name on every port, a file a name with one port. */
const Way = Type.Enum(['dns', 'http']);

export const TargetHost = Type.Object({
  /** The name and the port; the name alone where a record proves one that no target has. */
  host: Type.String(),
  /** `exempt`: the operator asks for no proof of this name. */
  state: Type.Enum(['proven', 'unproven', 'exempt']),
  way: Type.Union([Way, Type.Null()]),
  provenAt: Type.Union([Time, Type.Null()]),
  /** Scheme, name and port of a URL of the workspace that leads there; null where none does. */
  origin: Type.Union([Type.String(), Type.Null()]),
  /** Either is enough: the text as a TXT record of this name, or as a line of the file at this path of the host. */
  proof: Type.Object({
    text: Type.String(),
    /** Null for an address, which has no records. */
    recordName: Type.Union([Type.String(), Type.Null()]),
    path: Type.String(),
  }),
});
export const TargetHosts = Type.Object({
  /** Whether control refuses targets at hosts that are not proven. */
  isNeeded: Type.Boolean(),
  ...PageOf(TargetHost).properties,
});

/** Of the URL only scheme, name and port matter. */
export const CheckHost = Type.Object(
  { url: Type.String({ minLength: 1, maxLength: 2_000 }) },
  { additionalProperties: false },
);
export const HostCheck = Type.Object({
  ok: Type.Boolean(),
  /** In this order, up to the first that is ok. */
  steps: Type.Array(Type.Object({ way: Way, ok: Type.Boolean(), detail: Type.String() })),
  host: TargetHost,
});

export type TargetHost = Static<typeof TargetHost>;
export type TargetHosts = Static<typeof TargetHosts>;
export type HostCheck = Static<typeof HostCheck>;
