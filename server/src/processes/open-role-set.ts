/**
 * The roles of a process that are open. They stop at the same time, so that the slowest of them decides how long the end takes; only deliver
 * waits until collect has drained, because it delivers what collect still accepts.
 */
export type OpenRole = AsyncDisposable & {
  /** Resolves when load balancers have had the time to notice that this process leaves. */
  drain?(): Promise<void>;
  /** Another process listens on the same ports already. */
  handOver?(): void;
};

export type RoleSet = {
  /** Resolves with the role. After `stop` it closes the role at once and never resolves, so that no other one is opened. */
  enter<Role extends OpenRole>(name: string, opening: Promise<Role>): Promise<Role>;
  handOver(): void;
  /** Ends the roles that are open, also in the middle of a start. */
  stop(): Promise<void>;
};

export function openRoleSet(): RoleSet {
  const open = new Map<string, OpenRole>();
  let stopping: Promise<void> | undefined;
  return {
    async enter(name, opening) {
      const role = await opening;
      if (stopping === undefined) {
        open.set(name, role);
        return role;
      }
      await role[Symbol.asyncDispose]();
      return new Promise<never>(() => undefined);
    },
    handOver: () => open.forEach((role) => role.handOver?.()),
    stop: () => (stopping ??= stopAll(open)),
  };
}

async function stopAll(open: ReadonlyMap<string, OpenRole>): Promise<void> {
  const drained = open.get('collect')?.drain?.();
  const stop = async ([name, role]: [string, OpenRole]) => {
    if (name === 'deliver') await drained;
    await role[Symbol.asyncDispose]();
  };
  const ends = await Promise.allSettled([...open].map(stop));
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (errors.length > 0) throw new AggregateError(errors, `a role did not stop: ${errors.map(String).join('; ')}`);
}
