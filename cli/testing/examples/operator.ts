/** Commands that use the engines themselves: the settings of a server, with NATS and PostgreSQL behind them. */
import { startNatsCluster, startPostgresServer } from '@millrace/engines';
import { openStack, stackSettings } from '../../../server/testing/stack.ts';
import { openPerson } from '../open-person.ts';
import type { ExampleSetting, OpenSetting } from './setting.ts';

export const setting: ExampleSetting = {
  commands: [
    'migrate',
    'doctor',
    'backup',
    'restore',
    'drill',
    'support-bundle',
    'upgrade-check',
    'users reset-link',
    'users remove-factors',
  ],
  open: openOperator,
};

/** Examples that fill engines need empty ones, each its own: those of the settings for restore, those of the options for a drill. */
const FILLS_ENGINES = /^millrace (drill|restore (?!.*--check))/;

async function openOperator(): Promise<OpenSetting> {
  await using opening = new AsyncDisposableStack();
  const stack = opening.use(await openStack());
  // For a person who lost a password, or every second factor.
  const invited = await stack.get('POST', '/invitations', { email: 'ann@example.com', role: 'developer' });
  const ann = { token: invited['token'], name: 'Ann', password: 'correct horse battery staple' };
  await stack.get('POST', '/invitations/accept', ann);
  // A backup reads whole streams, which no role may: the operator has a user that may.
  const person = opening.use(await openPerson(stackSettings(stack.nats.adminUrl, stack.postgres)));
  const open = opening.move();
  return {
    run: (line) => (FILLS_ENGINES.test(line) ? runOnEmpty(line) : person.shell(line)),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
  async function runOnEmpty(line: string) {
    await using nats = await startNatsCluster({ nodes: 1 });
    await using postgres = await startPostgresServer();
    const withAddresses = line
      .replace('nats://127.0.0.1:4333', nats.adminUrl)
      .replace('postgres://127.0.0.1:5433/drill', postgres.url);
    const env = line.startsWith('millrace restore') ? stackSettings(nats.adminUrl, postgres) : {};
    return await person.shell(withAddresses, { env });
  }
}
