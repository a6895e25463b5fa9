import { type Static, Type } from 'typebox';
import { Id, Name, PageOf, Projection, Time } from './page.ts';

export const WriteKey = Type.Object({
  id: Id('key'),
  /** Public by nature: it is in every page that uses a browser library. */
  key: Type.String(),
  label: Type.String(),
  createdAt: Time,
  lastUsedAt: Type.Union([Time, Type.Null()]),
});

const Cell = Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' });

export const Source = Type.Object({
  id: Id('src'),
  /** `computed`: the calls of audiences and computed traits, which Millrace makes itself. */
  kind: Type.Union([Type.Literal('collected'), Type.Literal('computed')]),
  name: Name,
  enabled: Type.Boolean(),
  /** Calls a second; null takes the limit of the installation. */
  rateLimitPerSecond: Type.Union([Type.Integer(), Type.Null()]),
  /** The NATS cluster that carries it; `main` in an installation without cells. */
  cell: Cell,
  /** The cell that it moves to: its calls go there when that cell has its configuration. */
  nextCell: Type.Optional(Cell),
  writeKeys: Type.Array(WriteKey),
  projection: Projection,
  createdAt: Time,
  updatedAt: Time,
});
export const Sources = PageOf(Source);

export const NewSource = Type.Object({ name: Name, cell: Type.Optional(Cell) }, { additionalProperties: false });
export const SourceChange = Type.Object(
  {
    name: Type.Optional(Name),
    enabled: Type.Optional(Type.Boolean()),
    rateLimitPerSecond: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 10_000_000 }), Type.Null()])),
    /** Moves the source: new calls go to that cell as soon as it has the configuration, and the old one delivers what it has. */
    cell: Type.Optional(Cell),
  },
  { additionalProperties: false, minProperties: 1 },
);
export const NewWriteKey = Type.Object({ label: Type.Optional(Name) }, { additionalProperties: false });

export const SourceEvent = Type.Object({
  name: Type.String(),
  blocked: Type.Boolean(),
  firstSeenAt: Type.Union([Time, Type.Null()]),
  lastSeenAt: Type.Union([Time, Type.Null()]),
});
export const SourceEvents = PageOf(SourceEvent);
export const SourceEventChange = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 1_000 }), blocked: Type.Boolean() },
  { additionalProperties: false },
);

export type Source = Static<typeof Source>;
export type WriteKey = Static<typeof WriteKey>;
