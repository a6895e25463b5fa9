/** The check of a URL in words: its findings, the reason of a refusal, and the remedy. */
import type { UrlCheck } from '@millrace/contract/control';
import { milliseconds } from '../../../format/numbers.ts';
import { day } from '../../../format/times.ts';

type UrlStep = UrlCheck['steps'][number];
export type Finding = { key: string; ok: boolean; title: string; detail: string };

/** One short line for each step that went well. */
export function findingsOf(check: UrlCheck, url: string): Finding[] {
  const steps = check.steps.filter(({ step }) => step !== 'url');
  const findings: Finding[] = steps.map((step) => ({ key: step.step, ok: step.ok, ...wordsOf(step, url) }));
  const hasConnected = check.steps.some(({ step, ok }) => step === 'connect' && ok);
  if (hasConnected && isPlain(url)) findings.push({ key: 'plain', ok: false, ...PLAIN });
  return findings;
}

const PLAIN = { title: 'No TLS', detail: 'everybody on the way can read the events' };

function wordsOf(step: UrlStep, url: string): { title: string; detail: string } {
  switch (step.step) {
    case 'url':
      return { title: 'URL', detail: step.detail };
    case 'dns':
      return step.ok
        ? { title: 'Name found', detail: step.addresses?.slice(0, 2).join(', ') ?? 'its addresses are not shown' }
        : { title: 'Name not found', detail: 'see below' };
    case 'policy':
      return step.ok
        ? { title: 'Address', detail: 'webhooks may reach it' }
        : { title: 'Address refused', detail: 'see below' };
    case 'connect':
      return step.ok
        ? {
            title: 'Connects',
            detail: `port ${portOf(url)}${step.ms === undefined ? '' : ` in ${milliseconds(step.ms)}`}`,
          }
        : { title: 'No connection', detail: `port ${portOf(url)}` };
    case 'tls':
      return step.ok
        ? { title: (step.tlsVersion ?? 'TLS').replace('TLSv', 'TLS '), detail: certificateWords(step) }
        : { title: 'Certificate refused', detail: certificateWords(step) };
  }
}

function certificateWords({ certificate }: UrlStep): string {
  if (certificate === undefined) return 'no certificate was seen';
  const ends = day(certificate.validTo);
  return certificate.daysLeft < 0 ? `certificate ended ${ends}` : `certificate until ${ends}`;
}

/** The reason of a refusal, and its remedy. */
export function refusalOf(check: UrlCheck, url: string): { title: string; remedy: string } | undefined {
  const failed = check.steps.find(({ ok }) => !ok);
  if (check.ok || failed === undefined) return undefined;
  const host = hostnameOf(url);
  if (failed.step === 'policy' || (failed.step === 'url' && /not public/.test(failed.detail))) {
    const what =
      failed.step === 'policy' ? 'it leads to a private or reserved address' : 'it is a private or reserved address';
    return {
      title: `Millrace will not send to ${host}: ${what}.`,
      remedy: `Use a public HTTPS URL, or ask whoever runs Millrace to add the network to MILLRACE_ALLOW_CIDRS.${plainWarning(url)}`,
    };
  }
  return { title: failed.detail, remedy: REMEDIES[failed.step] };
}

const REMEDIES: Readonly<Record<UrlStep['step'], string>> = {
  url: 'Correct the URL. Millrace checks it again while you type.',
  dns: 'Correct the name, or create it in DNS and check again.',
  policy: 'Use a URL that leads to a public address.',
  connect: 'Start the receiver, or let its firewall accept connections on this port. Then check again.',
  tls: 'Until then Millrace would retry each delivery and give it up after 4 hours.',
};

function plainWarning(url: string): string {
  return isPlain(url) ? ' It is also plain HTTP: anybody on the way can read the events.' : '';
}

function isPlain(url: string): boolean {
  return /^http:/i.test(url.trim());
}

function hostnameOf(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).hostname : url;
}

function portOf(url: string): string {
  if (!URL.canParse(url.trim())) return '';
  const { port, protocol } = new URL(url.trim());
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}
