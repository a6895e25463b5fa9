/** Commands that need no server. */
import { openPerson } from '../open-person.ts';
import type { ExampleSetting } from './setting.ts';

export const setting: ExampleSetting = {
  commands: ['healthcheck', 'start', 'size', 'completion'],
  open: () => openAlone(),
};

/** The examples of healthcheck and start show how they fail. */
export const otherCodes = {
  'millrace healthcheck --url http://127.0.0.1:1/readyz': 5,
  'MILLRACE_ROLES=everything millrace start': 78,
};

async function openAlone() {
  const person = await openPerson();
  return { run: (line: string) => person.shell(line), [Symbol.asyncDispose]: () => person[Symbol.asyncDispose]() };
}
