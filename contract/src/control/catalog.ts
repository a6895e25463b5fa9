import { type Static, type TObject, Type } from 'typebox';
import type { CallType } from '../call.ts';
import { BODY_FORMATS } from '../webhook-body.ts';

/**
 * A kind of destination, as data: for a second one, control and console need only its entry here. Deliver makes webhook POSTs: a
 * kind with other settings needs code in `server/src/deliver/attempt/webhook.ts`.
 */
export type CatalogEntry = {
  /** Also the key in a call's integrations map. */
  name: string;
  accepts: readonly (CallType | 'delete')[];
  acceptsHistory: boolean;
  settings: TObject;
};

/**
 * The marks that the schemas below carry beyond JSON Schema. `secret`: sealed when stored, never shown again. `kind`: checked by the
 * rule of that name. `identity`: tells the items of a list apart, so that a secret that is kept stays with its item.
 * `rotates`: the secret that rotate-secret replaces.
 */
export type SettingMarks = { secret?: true; kind?: SettingKind; identity?: true; rotates?: true };
export type SettingKind = 'webhook-url' | 'webhook-headers' | 'webhook-secret';

const marks = (given: SettingMarks): SettingMarks => given;

const Target = Type.Object(
  {
    /** Absolute, http or https. */
    url: Type.String({ minLength: 1, maxLength: 2_000, ...marks({ kind: 'webhook-url', identity: true }) }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 4_096, ...marks({ secret: true }) }), {
        maxProperties: 20,
        ...marks({ kind: 'webhook-headers' }),
      }),
    ),
  },
  { additionalProperties: false },
);

const WebhookSettings = Type.Object(
  {
    targets: Type.Array(Target, { minItems: 1, maxItems: 5 }),
    sharedSecret: Type.Optional(
      Type.String({ minLength: 8, maxLength: 500, ...marks({ kind: 'webhook-secret', secret: true, rotates: true }) }),
    ),
    successPolicy: Type.Optional(Type.Enum(['any', 'all'], { default: 'any' })),
    bodyFormat: Type.Optional(Type.Enum([...BODY_FORMATS], { default: 'documented' })),
    order: Type.Optional(Type.Enum(['none', 'user'], { default: 'none' })),
    maxConcurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    maxPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  },
  { additionalProperties: false },
);

export const CATALOG: readonly CatalogEntry[] = [
  {
    name: 'Webhooks',
    accepts: ['track', 'page', 'screen', 'identify', 'group', 'alias', 'delete'],
    acceptsHistory: true,
    settings: WebhookSettings,
  },
];

export type WebhookSettings = Static<typeof WebhookSettings>;
