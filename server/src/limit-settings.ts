/** Settings of the limits of workspaces, which all roles read. */
import { LIMIT_NAMES, type LimitName } from '@millrace/contract/limit-names';
import { type HostCap, LIMITS, type LimitValues } from './limits/limits.ts';
import { listOf, type Reader } from './read-setting.ts';

const MOST = 1_000_000_000_000_000;

/** The limits of a workspace whose operator changed none. For bytes 0 means that only its share holds. */
export function readLimits(read: Reader): LimitValues {
  return Object.fromEntries(LIMIT_NAMES.map((name) => [name, readLimit(read, name)])) as LimitValues;
}

function readLimit(read: Reader, name: LimitName): number | undefined {
  const { setting, kind } = LIMITS[name];
  const most = read.number(setting, kind === 'bytes' ? 0 : 1, MOST);
  return most === 0 ? undefined : most;
}

export function readHostCap(read: Reader): HostCap {
  const capOf = (name: 'MILLRACE_HOST_ATTEMPTS' | 'MILLRACE_HOST_ATTEMPTS_PER_SECOND') => {
    const most = read.number(name, 0, 1_000_000);
    return most === 0 ? undefined : most;
  };
  return { attempts: capOf('MILLRACE_HOST_ATTEMPTS'), perSecond: capOf('MILLRACE_HOST_ATTEMPTS_PER_SECOND') };
}

/** Whether a workspace has to prove that a host is its own, and the names that need no proof. */
export function readHostProof(read: Reader): { isNeeded: boolean; exempt: ReadonlySet<string> } {
  const text = read.text('MILLRACE_HOST_PROOF');
  if (text !== 'off' && text !== 'needed') read.problem('MILLRACE_HOST_PROOF', 'must be off or needed');
  const names = listOf(read.text('MILLRACE_HOSTS_WITHOUT_PROOF')).map((name) => name.toLowerCase());
  if (!names.every(isName)) {
    read.problem(
      'MILLRACE_HOSTS_WITHOUT_PROOF',
      'must be names of hosts, without scheme, port and path, with commas between',
    );
  }
  return { isNeeded: text === 'needed', exempt: new Set(names) };
}

function isName(name: string): boolean {
  return URL.parse(`http://${name}/`)?.hostname === name;
}
