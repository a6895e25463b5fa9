/** Every screen of the console, with a path that shows something true in the demo shop. */
export type Ids = {
  source: string;
  destination: string;
  failing: string;
  delivery: string;
  retrying: string;
  messageId: string;
  replay: string;
  deletion: string;
  audience: string;
  trait: string;
  /** In the audience. */
  user: string;
};

export type Screen = {
  name: string;
  path(ids: Ids): string;
  /** The console shows it without a session. */
  isPublic?: boolean;
};

export const SCREENS: readonly Screen[] = [
  { name: 'sign-in', path: () => '/sign-in', isPublic: true },
  { name: 'setup', path: () => '/setup', isPublic: true },
  { name: 'join', path: () => '/join', isPublic: true },
  { name: 'single-sign-on', path: () => '/sso', isPublic: true },
  { name: 'forgot-password', path: () => '/forgot-password', isPublic: true },
  { name: 'reset-password', path: () => '/reset#token=mll_none', isPublic: true },
  { name: 'confirm-email', path: () => '/confirm-email', isPublic: true },
  { name: 'home', path: () => '/' },
  { name: 'sources', path: () => '/sources' },
  { name: 'new-source', path: () => '/sources/new' },
  { name: 'source-live', path: ({ source }) => `/sources/${source}` },
  { name: 'source-schema', path: ({ source }) => `/sources/${source}/schema` },
  { name: 'source-settings', path: ({ source }) => `/sources/${source}/settings` },
  { name: 'catalog', path: () => '/catalog' },
  { name: 'events', path: ({ source }) => `/events?sourceId=${source}` },
  { name: 'event-journey', path: ({ messageId }) => `/events/${encodeURIComponent(messageId)}` },
  { name: 'destinations', path: () => '/destinations' },
  { name: 'new-destination', path: () => '/destinations/new' },
  { name: 'destination', path: ({ failing }) => `/destinations/${failing}` },
  { name: 'destination-healthy', path: ({ destination }) => `/destinations/${destination}` },
  { name: 'destination-deliveries', path: ({ failing }) => `/destinations/${failing}/deliveries` },
  { name: 'destination-try', path: ({ destination }) => `/destinations/${destination}/try` },
  { name: 'destination-settings', path: ({ destination }) => `/destinations/${destination}/settings` },
  { name: 'deliveries', path: () => '/deliveries' },
  { name: 'delivery', path: ({ retrying }) => `/deliveries/${retrying}` },
  { name: 'delivery-delivered', path: ({ delivery }) => `/deliveries/${delivery}` },
  { name: 'dead-letters', path: () => '/dead-letters' },
  { name: 'replays', path: () => '/replays' },
  { name: 'new-replay', path: () => '/replays/new' },
  { name: 'replay', path: ({ replay }) => `/replays/${replay}` },
  { name: 'audiences', path: () => '/audiences' },
  { name: 'new-audience', path: () => '/audiences/new' },
  { name: 'audience', path: ({ audience }) => `/audiences/${audience}` },
  { name: 'audience-edit', path: ({ audience }) => `/audiences/${audience}/edit` },
  { name: 'trait', path: ({ trait }) => `/audiences/${trait}?tab=members` },
  { name: 'profiles', path: () => '/profiles' },
  { name: 'user-profile', path: ({ user }) => `/profiles/${encodeURIComponent(user)}` },
  { name: 'privacy', path: () => '/privacy' },
  { name: 'deletion', path: ({ deletion }) => `/privacy/${deletion}` },
  { name: 'team', path: () => '/team' },
  { name: 'team-tokens', path: () => '/team?tab=tokens' },
  { name: 'team-sign-on', path: () => '/team?tab=sign-on' },
  { name: 'team-audit', path: () => '/team?tab=audit' },
  { name: 'usage', path: () => '/usage' },
  { name: 'system', path: () => '/system' },
  { name: 'system-limits', path: () => '/system?tab=limits' },
  { name: 'system-workspaces', path: () => '/system?tab=workspaces' },
  { name: 'system-operators', path: () => '/system?tab=operators' },
  { name: 'profile', path: () => '/profile' },
];
