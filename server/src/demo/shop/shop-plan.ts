/** The demo creates all of this over the control API: members, sources, destinations with their troubles, a token. */
import type { FilterRule } from '@millrace/contract';
import type { Definition } from '@millrace/contract/audiences';

export const WORKSPACE_NAME = 'Fernhill Outdoor';
/** Good for the demo only, where everybody may know it: the server listens on this machine alone. */
export const PASSWORD = 'fernhill-demo-password';

export type MemberName = 'Mara Lindt' | 'Jonas Beck' | 'Priya Nair' | 'Tom Ekberg';
type MemberPlan = { name: MemberName; email: string; role: 'owner' | 'admin' | 'developer' | 'viewer' };

export const MEMBERS: readonly [MemberPlan, ...MemberPlan[]] = [
  { name: 'Mara Lindt', email: 'mara@fernhill.example', role: 'owner' },
  { name: 'Jonas Beck', email: 'jonas@fernhill.example', role: 'admin' },
  { name: 'Priya Nair', email: 'priya@fernhill.example', role: 'developer' },
  { name: 'Tom Ekberg', email: 'tom@fernhill.example', role: 'viewer' },
];

export type SourceName = 'Web shop' | 'Order service' | 'Mobile app';
export const SOURCES: readonly SourceName[] = ['Web shop', 'Order service', 'Mobile app'];

export type ReceiverName = 'crm' | 'erp' | 'erp-backup' | 'email' | 'fraud' | 'warehouse' | 'analytics';

export type DestinationName =
  | 'CRM sync'
  | 'Orders to ERP'
  | 'Email platform'
  | 'Fraud scoring'
  | 'Warehouse loader'
  | 'Analytics mirror';

export type DestinationPlan = {
  name: DestinationName;
  source: SourceName;
  receivers: readonly ReceiverName[];
  headers?: Record<string, string>;
  filters: FilterRule[];
  /** The destination takes this share of the demo's calls a second, and no more. */
  rateShare?: number;
  /** This member pauses it as soon as it is there. */
  pausedBy?: MemberName;
};

const ORDER_EVENTS = ['Order Completed', 'Order Refunded'];

export const DESTINATIONS: readonly DestinationPlan[] = [
  // Healthy.
  { name: 'CRM sync', source: 'Web shop', receivers: ['crm'], filters: [] },
  // Failing: one target answers 503, the other one shows a self-signed certificate.
  {
    name: 'Orders to ERP',
    source: 'Order service',
    receivers: ['erp', 'erp-backup'],
    filters: [{ field: 'event', op: 'one_of', values: ORDER_EVENTS }],
  },
  // Rejecting: its Authorization header is out of date, so each event becomes a dead letter.
  {
    name: 'Email platform',
    source: 'Web shop',
    receivers: ['email'],
    headers: { Authorization: 'Bearer a-key-that-was-replaced' },
    filters: [
      { field: 'type', op: 'one_of', values: ['identify', 'track'] },
      { field: 'userId', op: 'exists' },
    ],
  },
  // Paused.
  {
    name: 'Fraud scoring',
    source: 'Order service',
    receivers: ['fraud'],
    filters: [{ field: 'event', op: 'equals', value: 'Order Completed' }],
    pausedBy: 'Jonas Beck',
  },
  // Slow: it asks Millrace to wait now and then, and its lane drains in between.
  {
    name: 'Warehouse loader',
    source: 'Order service',
    receivers: ['warehouse'],
    filters: [{ field: 'event', op: 'one_of', values: ['Order Completed', 'Order Shipped', 'Stock Counted'] }],
    rateShare: 0.7,
  },
  // Skips most events: only people who agreed to it are counted.
  {
    name: 'Analytics mirror',
    source: 'Mobile app',
    receivers: ['analytics'],
    filters: [
      { field: 'type', op: 'one_of', values: ['screen', 'track'] },
      { field: 'context.consent.analytics', op: 'equals', value: true },
    ],
  },
];

/**
 * One audience and one computed trait; the CRM is told who is in, and each value. The refunds' window is short: customers come back
 * within minutes.
 */
export const DEFINITIONS: readonly { definition: Definition; tells: DestinationName[] }[] = [
  {
    tells: ['CRM sync'],
    definition: {
      kind: 'audience',
      name: 'Big spenders, 30 days',
      when: {
        all: [
          {
            event: 'Order Completed',
            where: [{ field: 'properties.currency', op: 'equals', value: 'EUR' }],
            sum: 'properties.revenue',
            window: '30d',
            atLeast: 500,
          },
          { not: { event: 'Order Refunded', window: '5m', atLeast: 1 } },
        ],
      },
    },
  },
  {
    tells: ['CRM sync'],
    definition: { kind: 'trait', name: 'Orders, 90 days', compute: 'count', event: 'Order Completed', window: '90d' },
  },
];

/** Collect stores these events, and no destination gets them. */
export const BLOCKED_EVENT = { source: 'Web shop', name: 'Products Searched' } as const;

export const TOKEN = { name: 'Nightly export', role: 'viewer', scopes: ['deliveries:read', 'usage:read'] } as const;
