/** How many processes there are, and which roles each of them plays. */

/** `limitBytes` is undefined without a limit of memory, such as that of a container. */
export type Machine = { cores: number; limitBytes: number | undefined; totalBytes: number };

/** As much as the units, the compose files and the chart give to one process. */
const BYTES_A_PROCESS = 2 ** 30;
/** More of them gain little before NATS has more streams, so a person has to ask for more. */
const MOST_BY_ITSELF = 8;
/** Calls and deliveries need cores. One control and one compute process serve an installation; more of them would only cost connections. */
const MULTIPLIED: readonly string[] = ['collect', 'deliver'];

/** Half of a machine without a limit is left to the engines and to everything else that runs there. */
export function processesFor({ cores, limitBytes, totalBytes }: Machine): number {
  const bytes = limitBytes !== undefined && limitBytes < totalBytes ? limitBytes : totalBytes / 2;
  const byMemory = Math.floor(bytes / BYTES_A_PROCESS);
  return Math.max(1, Math.min(cores, byMemory, MOST_BY_ITSELF));
}

/** The roles of each process. The first one plays all of them. */
export function planRoles<Role extends string>(roles: readonly Role[], processes: number): Role[][] {
  const multiplied = roles.filter((role) => MULTIPLIED.includes(role));
  const others = multiplied.length === 0 ? 0 : processes - 1;
  return [[...roles], ...Array.from({ length: others }, () => multiplied)];
}
