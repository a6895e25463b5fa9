/** Something that the command palette offers. */
export type PaletteEntry = {
  kind: string;
  name: string;
  detail?: string;
  to: string;
  params?: Record<string, string>;
  search?: Record<string, string>;
  /** The role that it needs and this session does not have. */
  needs?: string;
};

const BY_PREFIX: Record<string, { kind: string; to: string }> = {
  dlv: { kind: 'delivery', to: '/deliveries/$id' },
  dst: { kind: 'destination', to: '/destinations/$id' },
  src: { kind: 'source', to: '/sources/$id' },
  rpl: { kind: 'replay', to: '/replays/$id' },
  aud: { kind: 'audience', to: '/audiences/$id' },
  trt: { kind: 'computed trait', to: '/audiences/$id' },
};

/** A pasted id opens a thing of ours by its prefix, else an event, or the profile or deliveries of a user. */
export function idEntries(text: string): PaletteEntry[] {
  if (text.length < 4) return [];
  const known = BY_PREFIX[text.split('_', 1)[0] ?? ''];
  if (known !== undefined && text.includes('_')) return [{ ...known, name: text, params: { id: text } }];
  return [
    { kind: 'event with this messageId', name: text, to: '/events/$messageId', params: { messageId: text } },
    { kind: 'profile of this user', name: text, to: '/profiles/$userId', params: { userId: text } },
    { kind: 'deliveries of this user', name: text, to: '/deliveries', search: { userId: text } },
  ];
}

const PAGES: readonly (readonly [string, string])[] = [
  ['Home', '/'],
  ['Sources', '/sources'],
  ['Events', '/events'],
  ['Destinations', '/destinations'],
  ['Deliveries', '/deliveries'],
  ['Dead letters', '/dead-letters'],
  ['Replays', '/replays'],
  ['Audiences', '/audiences'],
  ['Profiles', '/profiles'],
  ['Privacy', '/privacy'],
  ['Team and audit', '/team'],
  ['Usage', '/usage'],
  ['System', '/system'],
  ['Profile and sessions', '/profile'],
  ['Catalog', '/catalog'],
];

export function pageEntries(mayBuild: boolean): PaletteEntry[] {
  const needs = mayBuild ? {} : { needs: 'developer' };
  return [
    { kind: 'action', name: 'New source', to: '/sources/new', ...needs },
    { kind: 'action', name: 'New destination', to: '/destinations/new', ...needs },
    { kind: 'action', name: 'New audience', to: '/audiences/new', ...needs },
    ...PAGES.map(([name, to]) => ({ kind: 'page', name, to })),
  ];
}
