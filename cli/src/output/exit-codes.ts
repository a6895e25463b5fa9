/** The exit codes of all commands, for scripts. */
export const EXIT_CODES = {
  done: { code: 0, means: 'done' },
  failed: { code: 1, means: 'the command failed; standard error says why' },
  usage: { code: 2, means: 'unknown command or option, or a value that the command does not take' },
  refused: { code: 3, means: 'the server refused: not signed in, no permission, or the request is not valid' },
  notFound: { code: 4, means: 'the thing asked for does not exist' },
  unreachable: { code: 5, means: 'the server or an engine cannot be reached' },
  findings: { code: 6, means: 'a check found problems (doctor, verify, upgrade-check, export and apply with --check)' },
  config: { code: 78, means: 'the settings are not valid; a supervisor need not try again' },
  interrupted: { code: 130, means: 'stopped by Ctrl-C' },
} as const;

export type ExitName = keyof typeof EXIT_CODES;
