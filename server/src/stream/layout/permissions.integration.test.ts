/** The NATS users as a server enforces them: everything that a role may not do is tried and has to be denied. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { errors } from '@nats-io/nats-core';
import { openLog } from '../../log.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { openStream } from '../open-stream.ts';
import { inboxPrefix, NATS_ROLES, type NatsRole, permissionsOf } from './permissions.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';

const log = openLog({ level: 'silent', pretty: false });
const COUNTS = { eventStreams: 2, laneStreams: 2, outcomeStreams: 2 };
const SETTINGS = { ...STREAM_SETTINGS, ...COUNTS };

/** Subjects that no user of ours needs, and other users of NATS have. */
const NOBODYS = {
  publish: [
    '$JS.API.STREAM.SNAPSHOT.EVENTS-0',
    '$JS.API.STREAM.RESTORE.EVENTS-0',
    '$JS.API.STREAM.LEADER.STEPDOWN.EVENTS-0',
    '$JS.API.CONSUMER.LEADER.STEPDOWN.EVENTS-0.deliver',
    '$JS.API.STREAM.PEER.REMOVE.EVENTS-0',
    '$JS.API.META.LEADER.STEPDOWN',
    '$JS.API.ACCOUNT.PURGE.MILLRACE',
    '$JS.API.CONSUMER.PAUSE.EVENTS-0.deliver',
    '$JS.API.CONSUMER.DELETE.OUTCOMES.record',
    '$SYS.REQ.SERVER.PING.CONNZ',
    '$SYS.REQ.ACCOUNT.MILLRACE.CONNZ',
    'tickets.due.dst_1',
    'tickets.urgent.dst_1',
    '_INBOX.somebody',
    ...NATS_ROLES.map((role) => `${inboxPrefix(role)}.answer`),
  ],
  subscribe: [
    '>',
    '*',
    'events.>',
    'events.0.*',
    'lanes.>',
    'dead.*',
    'outcomes.*',
    'tickets.>',
    'quarantine.*',
  ].concat(['$KV.config.>', '$KV.>', '$JS.API.>', '$JS.ACK.>', '$JS.EVENT.>', '_INBOX.>', 'tail.>']),
};

/** By hand, beside what follows from the table: the promises that the documents make. */
const PROMISED: Readonly<Record<NatsRole, { publish: string[]; subscribe: string[] }>> = {
  collect: {
    publish: [
      '$JS.API.STREAM.MSG.GET.EVENTS-0',
      '$JS.API.DIRECT.GET.EVENTS-0',
      '$JS.API.CONSUMER.CREATE.EVENTS-0.spy',
      '$JS.API.CONSUMER.MSG.NEXT.EVENTS-0.deliver',
      '$JS.API.STREAM.PURGE.EVENTS-0',
      '$JS.API.STREAM.DELETE.EVENTS-0',
      '$JS.API.STREAM.UPDATE.EVENTS-0',
      '$JS.API.STREAM.MSG.DELETE.EVENTS-0',
      '$JS.ACK.EVENTS-0.deliver.1.1.1.1.1',
      '$KV.config.destination.dst_1',
      '$KV.config.source.src_1',
      '$KV.health.dst_1',
      'lanes.0.dst_1.0',
      'tickets.at.dst_1',
      'dead.dst_1',
      'outcomes.0',
      'deliver.ask',
      'deliver.answer.x',
    ],
    subscribe: [
      'deliver.ask',
      'deliver.answer.*',
      'seen',
      'refused',
      'tail.*',
      'deliver.alive',
      '_INBOX_deliver.>',
      '_INBOX_control.>',
      '_INBOX_millrace.>',
    ],
  },
  deliver: {
    publish: [
      'events.0.src_1',
      '$KV.config.destination.dst_1',
      '$KV.config.source.src_1',
      '$JS.API.STREAM.MSG.GET.EVENTS-0',
      '$JS.API.STREAM.MSG.GET.DEAD',
      '$JS.API.DIRECT.GET.DEAD',
      '$JS.API.STREAM.DELETE.LANES-0',
      '$JS.API.STREAM.UPDATE.LANES-0',
      '$JS.API.STREAM.CREATE.EVENTS-9',
      '$JS.API.CONSUMER.CREATE.EVENTS-0.spy',
      '$JS.API.CONSUMER.MSG.NEXT.OUTCOMES.record',
      'seen',
      'refused',
      'tail.want.src_1',
      'deliver.ask',
    ],
    subscribe: [
      'seen',
      'refused',
      'tail.*',
      'deliver.answer.*',
      '_INBOX_collect.>',
      '_INBOX_control.>',
      '_INBOX_millrace.>',
    ],
  },
  control: {
    // It puts quarantined requests, dead letters and outcomes back, so it may publish those.
    publish: [
      '$KV.health.dst_1',
      'deliver.alive',
      'tail.src_1',
      'deliver.answer.x',
      'seen',
      'refused',
      '$JS.ACK.EVENTS-0.deliver.1.1.1.1.1',
      '$JS.API.CONSUMER.MSG.NEXT.TICKETS.drain',
      '$JS.API.STREAM.MSG.DELETE.EVENTS-0',
    ],
    subscribe: ['deliver.ask', 'tail.want.*', '_INBOX_collect.>', '_INBOX_deliver.>', '_INBOX_millrace.>'],
  },
  compute: {
    publish: [
      '$JS.API.STREAM.PURGE.EVENTS-0',
      '$JS.API.STREAM.DELETE.EVENTS-0',
      '$JS.API.STREAM.UPDATE.EVENTS-0',
      '$JS.API.STREAM.CREATE.EVENTS-9',
      '$JS.API.STREAM.MSG.DELETE.EVENTS-0',
      '$JS.API.STREAM.MSG.GET.DEAD',
      '$JS.API.DIRECT.GET.LANES-0',
      '$JS.API.STREAM.MSG.GET.KV_config',
      '$JS.API.CONSUMER.CREATE.KV_config.spy',
      '$JS.API.CONSUMER.CREATE.OUTCOMES.spy',
      '$JS.ACK.EVENTS-0.deliver.1.1.1.1.1',
      '$KV.config.destination.dst_1',
      '$KV.config.source.src_1',
      '$KV.health.dst_1',
      'lanes.0.dst_1.0',
      'tickets.at.dst_1',
      'dead.dst_1',
      'outcomes.0',
      'quarantine.request',
      'deliver.ask',
      'deliver.answer.x',
      'deliver.alive',
      'seen',
      'refused',
      'tail.src_1',
    ],
    subscribe: [
      'deliver.ask',
      'deliver.answer.*',
      'seen',
      'refused',
      'tail.*',
      'deliver.alive',
      '_INBOX_collect.>',
      '_INBOX_deliver.>',
      '_INBOX_control.>',
      '_INBOX_millrace.>',
    ],
  },
};

let cluster: NatsCluster;
before(async () => {
  cluster = await startNatsCluster();
  await using _ = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
});
after(() => cluster[Symbol.asyncDispose]());

suite('the NATS user of', () => {
  for (const role of NATS_ROLES) {
    test(`${role} is denied every publish and subscribe that is not its own`, async (t) => {
      const own = permissionsOf(role, COUNTS);
      const every = { publish: [...NOBODYS.publish], subscribe: [...NOBODYS.subscribe] };
      for (const other of NATS_ROLES) {
        const { publish, subscribe } = permissionsOf(other, COUNTS);
        every.publish.push(...PROMISED[other].publish, ...publish.map(example));
        every.subscribe.push(...PROMISED[other].subscribe, ...subscribe);
      }
      const forbidden = {
        publish: unique(every.publish.filter((subject) => !isAllowed(subject, own.publish))),
        subscribe: unique(every.subscribe.filter((subject) => !isAllowed(subject, own.subscribe))),
      };
      for (const how of ['publish', 'subscribe'] as const) {
        const missing = PROMISED[role][how].filter((subject) => !forbidden[how].includes(subject));
        assert.deepEqual(missing, [], `the table allows what the documents say ${role} cannot ${how}`);
      }
      assert.deepEqual(await allowedOf(role, forbidden), { publish: [], subscribe: [] });
      t.diagnostic(`${forbidden.publish.length} publishes and ${forbidden.subscribe.length} subscribes denied`);
    });
  }

  test('every role reaches what the table allows it, also with wildcards', async () => {
    // Harmless ones only: an allowed purge would purge.
    const tried = {
      publish: [
        'seen',
        'tail.src_1',
        'tail.want.src_1',
        'deliver.alive',
        'deliver.ask',
        'deliver.answer.x',
        '$JS.API.INFO',
      ],
      subscribe: ['deliver.ask', 'deliver.answer.*'],
    };
    const allowed = await Promise.all(NATS_ROLES.map((role) => allowedOf(role, tried)));
    assert.deepEqual(
      allowed.map(({ publish }) => publish),
      [
        ['seen', 'tail.src_1', '$JS.API.INFO'],
        ['tail.src_1', 'deliver.alive', 'deliver.answer.x', '$JS.API.INFO'],
        ['tail.want.src_1', 'deliver.ask', '$JS.API.INFO'],
        ['$JS.API.INFO'],
      ],
    );
    assert.deepEqual(
      allowed.map(({ subscribe }) => subscribe),
      [[], ['deliver.ask'], ['deliver.answer.*'], []],
    );
  });
});

type Subjects = { publish: string[]; subscribe: string[] };

/** Those of the subjects that the server did not deny. */
async function allowedOf(role: NatsRole, { publish, subscribe }: Subjects): Promise<Subjects> {
  const url = cluster.url.replace('nats://', `nats://${role}:${role}@`);
  await using connection = await connectNats({ url, inbox: inboxPrefix(role), name: 'test', log });
  const { nc } = connection;
  const denied = new Set<string>();
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type !== 'error' || !(status.error instanceof errors.PermissionViolationError)) continue;
      denied.add(`${status.error.operation} ${status.error.subject}`);
    }
  })();
  for (const subject of publish) nc.publish(subject, '{}');
  for (const subject of subscribe) nc.subscribe(subject, { callback: () => undefined });
  // The server answers in order: a denial comes before the answer to the ping.
  await nc.flush();
  await nc.flush();
  await new Promise((resolve) => setImmediate(resolve));
  return {
    publish: publish.filter((subject) => !denied.has(`publish ${subject}`)),
    subscribe: subscribe.filter((subject) => !denied.has(`subscription ${subject}`)),
  };
}

/** A subject that the pattern allows. */
function example(pattern: string): string {
  return pattern.replaceAll('*', 'x').replace(/>$/, 'x.y');
}

function isAllowed(subject: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => covers(pattern.split('.'), subject.split('.')));
}

function covers(pattern: readonly string[], subject: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  const [token, ...more] = subject;
  if (first === '>') return token !== undefined;
  if (first === undefined || token === undefined) return first === token;
  // A server lets a subscription to `tail.>` pass where `tail.*` is allowed. That gives control its own wishes to read, no more.
  if (first !== token && first !== '*') return false;
  return covers(rest, more);
}

function unique(subjects: string[]): string[] {
  return [...new Set(subjects)];
}
