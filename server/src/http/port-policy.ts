/**
 * Ports that no webhook listens on: those that browsers refuse (the fetch standard's "bad ports") and those of databases,
 * brokers and cluster managers, which would read a POST as commands. Ports below 1024 need no list: only 80 and 443 are open.
 */
const BROWSERS_REFUSE = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];
const ENGINES = [
  1433, 1521, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4222, 5432, 5433, 5672, 5900, 5984, 5985, 5986, 6222, 6379,
  6380, 6432, 6443, 8222, 9042, 9092, 9200, 9300, 10250, 10255, 10256, 11211, 15672, 26257, 26379, 27017, 27018, 27019,
];
const REFUSED = new Set([...BROWSERS_REFUSE, ...ENGINES]);

/** Whether a webhook may be posted to a port; the same rule inside allowed networks and outside. */
export function portProblem(port: number): string | undefined {
  if (port !== 80 && port !== 443 && port < 1024) return `must not use port ${port}: 80, 443 or one from 1024 up`;
  return REFUSED.has(port) ? `must not use port ${port}, which belongs to another kind of service` : undefined;
}
