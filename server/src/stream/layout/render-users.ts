import { SERVERS_SUBJECT } from './layout.ts';
import { NATS_USERS, type NatsUser, permissionsOf, type StreamCounts } from './permissions.ts';

/** How a user proves itself, as a line of the server's configuration: `user: x, password: y` or `nkey: U…`. */
export type ProofOf = (user: NatsUser) => string;

/** `more` are users beside those of the roles, each a line of the server's configuration. */
export type Others = { systemPassword: string; more?: readonly string[] };

/** The accounts of a NATS server's configuration, with one user for each role. */
export function renderAccounts(counts: StreamCounts, proofOf: ProofOf, { systemPassword, more = [] }: Others): string {
  const users = [...NATS_USERS.map((user) => renderUser(user, counts, proofOf)), ...more];
  return `accounts {
  SYS {
    users: [{ user: system, password: ${systemPassword} }]
    exports: [{ service: "${SERVERS_SUBJECT}", response: Stream }]
  }
  MILLRACE {
    jetstream: enabled
    imports: [{ service: { account: SYS, subject: "${SERVERS_SUBJECT}" } }]
    users: [
${users.join('\n')}
    ]
  }
}
`;
}

function renderUser(user: NatsUser, counts: StreamCounts, proofOf: ProofOf): string {
  const { publish, subscribe } = permissionsOf(user, counts);
  const list = (subjects: string[]) => subjects.map((subject) => `          "${subject}"`).join('\n');
  return `      { ${proofOf(user)}, permissions: {
        publish: [
${list(publish)}
        ]
        subscribe: [
${list(subscribe)}
        ]
      } }`;
}
