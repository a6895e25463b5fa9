export type DebugLog = (what: string, details?: Readonly<Record<string, unknown>>) => void;

/** `DEBUG=analytics` prints what the client does. */
export function openDebugLog(writeKey: string): DebugLog | undefined {
  const wanted = typeof process === 'undefined' ? undefined : process.env?.['DEBUG'];
  if (wanted === undefined || !wanted.split(/[\s,]+/).includes('analytics')) return undefined;
  const masked = maskKey(writeKey);
  return (what, details = {}) => {
    const text = JSON.stringify(details).replaceAll(writeKey, masked);
    console.error(`analytics ${new Date().toISOString()} [${masked}] ${what} ${text}`);
  };
}

/** Enough to tell two keys apart, too little to use one. */
export function maskKey(writeKey: string): string {
  return writeKey.length < 12 ? '…' : `${writeKey.slice(0, 3)}…`;
}
