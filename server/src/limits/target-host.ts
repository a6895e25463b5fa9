/**
 * The host of a target: the name or address of its URL in lower case, without a last dot, and the port. The limit of hosts and the cap
 * of one host use it; undefined for a URL that leads nowhere.
 */
export function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  if (hostname === '') return undefined;
  return `${hostname.replace(/\.$/, '')}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
}

/** The name or address of a host, without its port. */
export function nameOf(host: string): string {
  return host.replace(/:\d+$/, '');
}
