/**
 * A setting in which examples of the help are run. Each file of this folder that exports `setting` is one: a command that needs
 * something of its own gets a file here.
 */
import type { Ran } from '../open-person.ts';

export type ExampleSetting = {
  /** The commands whose examples it runs, by their words after `millrace`; `sources` stands for all of its subcommands. */
  commands: readonly string[];
  open(): Promise<OpenSetting>;
};

export type OpenSetting = AsyncDisposable & { run(line: string): Promise<Ran> };

/** Examples that show something else than success: they must end with this code. */
export type OtherCodes = Readonly<Record<string, number>>;

export function covers({ commands }: ExampleSetting, path: string): boolean {
  return commands.some((each) => path === each || path.startsWith(`${each} `));
}
