/** Commands that use the engines themselves: the settings of a server, with NATS and PostgreSQL behind them. */
import { openStack, stackSettings } from '../../../../server/testing/stack.ts';
import { openPerson } from '../run-millrace.ts';
import type { ExampleSetting, OpenSetting } from './setting.ts';

export const setting: ExampleSetting = { commands: ['migrate'], open: openOperator };

async function openOperator(): Promise<OpenSetting> {
  await using opening = new AsyncDisposableStack();
  const stack = opening.use(await openStack());
  const person = opening.use(await openPerson(stackSettings(stack.natsUrl, stack.postgres)));
  const open = opening.move();
  return { run: (line) => person.shell(line), [Symbol.asyncDispose]: () => open.disposeAsync() };
}
