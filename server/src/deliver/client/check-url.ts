/** Tells step by step whether a URL can be used, by the same dial as a delivery's. Nothing is sent over the connection. */
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { UrlCheck, UrlStep } from '@millrace/contract/control';
import { type Dialed, type DialNeeds, dial } from './dial.ts';
import { sentence } from './error-classes.ts';
import type { Target } from './read-target.ts';
import { isShown } from './shown-address.ts';

export type CheckNeeds = { dialNeeds: DialNeeds; limitMs: number };

type Seen = { addresses: string[]; certificate?: Certificate };
type Certificate = NonNullable<UrlStep['certificate']>;
type Failed = Extract<Dialed, { ok: false }>;

export async function checkUrl(target: Target, { dialNeeds, limitMs }: CheckNeeds): Promise<UrlCheck> {
  const { problem } = target;
  if (problem !== undefined) {
    const step = problem.errorClass === 'url_invalid' ? 'url' : 'policy';
    return ended([failed(step, sentence(problem.errorClass, { ...target, ...problem }))]);
  }
  const seen: Seen = { addresses: [] };
  const dialing = dial(target, { ...dialNeeds, ...looking(seen, dialNeeds) });
  const late = Promise.withResolvers<Failed>();
  const timer = setTimeout(() => {
    const detail = `still ${dialing.waitsFor()}, not done within ${limitMs / 1_000} s`;
    late.resolve({ ok: false, errorClass: 'timeout', detail, timings: {} });
    dialing.cancel();
  }, limitMs);
  const dialed = await Promise.race([dialing.done, late.promise]);
  clearTimeout(timer);
  if (!dialed.ok) return ended(failedSteps(target, { dialed, seen, waitedFor: dialing.waitsFor() }));
  const tlsVersion = target.isTls ? (dialed.socket as TLSSocket).getProtocol() : null;
  dialed.socket.destroy();
  const secured = target.isTls ? [tlsStep(target, { dialed, seen, tlsVersion })] : [];
  return ended([...resolvedSteps(target, dialed, seen), connectStep(target, dialed), ...secured], target);
}

/** Notes what the dial learns on its way, also where it then refuses to go on. */
function looking(seen: Seen, { resolve }: DialNeeds): Pick<DialNeeds, 'resolve' | 'peek'> {
  return {
    async resolve(name) {
      const resolved = await resolve(name);
      if (resolved.ok) seen.addresses = resolved.addresses;
      return resolved;
    },
    peek(socket) {
      // Before the verification, which closes the connection of a certificate that it refuses.
      socket.prependOnceListener('secure', () => {
        const certificate = readCertificate(socket);
        if (certificate !== undefined) seen.certificate = certificate;
      });
    },
  };
}

type Failing = { dialed: Failed; seen: Seen; waitedFor: string };

/** The steps up to the one that failed. */
function failedSteps(target: Target, { dialed, seen, waitedFor }: Failing): UrlStep[] {
  const why = sentence(dialed.errorClass, { ...target, detail: dialed.detail });
  if (dialed.errorClass === 'address_forbidden') return forbiddenSteps(target, seen, why);
  if (waitedFor === 'resolving its name') return [urlStep(target), failed('dns', why)];
  const before = resolvedSteps(target, dialed, seen);
  if (waitedFor === 'connecting') return [...before, failed('connect', why)];
  const { certificate } = seen;
  return [...before, connectStep(target, dialed), { ...failed('tls', why), ...(certificate && { certificate }) }];
}

/** Of a name that leads inside no address is shown, not even a public one beside it, nor how many there are. */
function forbiddenSteps(target: Target, seen: Seen, why: string): UrlStep[] {
  const dns = seen.addresses.length === 0 ? [] : [ok('dns', `DNS knows ${target.host}.`)];
  return [urlStep(target), ...dns, failed('policy', why)];
}

function resolvedSteps(target: Target, { timings }: Dialed, { addresses }: Seen): UrlStep[] {
  if (isIP(target.host) !== 0) return [urlStep(target), ok('policy', 'Webhooks may reach this address.')];
  const shown = addresses.filter((address) => isShown(address, target.host));
  const inside = addresses.length - shown.length;
  const hidden = inside === 0 ? '' : `, ${inside} of them in a network that this installation allows and does not show`;
  const dns = ok('dns', `${target.host} has ${countOf(addresses.length)}${hidden}.`, timings.dnsMs);
  return [
    urlStep(target),
    { ...dns, addresses: shown },
    ok('policy', addresses.length === 1 ? 'Webhooks may reach it.' : 'Webhooks may reach all of them.'),
  ];
}

function countOf(addresses: number): string {
  return addresses === 1 ? 'one address' : `${addresses} addresses`;
}

function urlStep({ host, port, isTls }: Target): UrlStep {
  return ok('url', `The URL leads to ${host} on port ${port}, ${isTls ? 'over TLS' : 'without TLS'}.`);
}

function connectStep({ host, port }: Target, { address, timings }: Dialed): UrlStep {
  const step = ok('connect', `${host} takes connections on port ${port}.`, timings.connectMs);
  return address !== undefined && isShown(address, host) ? { ...step, addresses: [address] } : step;
}

type Secured = { dialed: Dialed; seen: Seen; tlsVersion: string | null };

function tlsStep({ host }: Target, { dialed, seen: { certificate }, tlsVersion }: Secured): UrlStep {
  const days = certificate === undefined ? '' : ` and is valid for ${countDays(certificate.daysLeft)} more`;
  return {
    ...ok('tls', `The certificate is for ${host}${days}.`, dialed.timings.tlsMs),
    ...(tlsVersion !== null && { tlsVersion }),
    ...(certificate && { certificate }),
  };
}

function countDays(days: number): string {
  return days === 1 ? 'one day' : `${days} days`;
}

const DAY_MS = 86_400_000;
/** A certificate is a stranger's text. */
const MAX_TEXT = 300;

/** Undefined for one that Node cannot take apart: an error in a listener of the socket would end the process. */
function readCertificate(socket: TLSSocket): Certificate | undefined {
  try {
    return certificateOf(socket);
  } catch {
    return undefined;
  }
}

function certificateOf(socket: TLSSocket): Certificate | undefined {
  const { subject, issuer, subjectaltname = '', valid_from, valid_to } = socket.getPeerCertificate();
  const [from, to] = [Date.parse(valid_from), Date.parse(valid_to)];
  if (Number.isNaN(from) || Number.isNaN(to)) return undefined;
  return {
    subject: nameText(subject),
    issuer: nameText(issuer),
    names: short(subjectaltname),
    validFrom: new Date(from).toISOString(),
    validTo: new Date(to).toISOString(),
    daysLeft: Math.floor((to - Date.now()) / DAY_MS),
  };
}

/** `CN=hook.example, O=Example`; empty for a certificate that has only `names`. */
function nameText(name: object | undefined): string {
  return short(
    Object.entries(name ?? {})
      .map(([part, value]) => `${part}=${String(value)}`)
      .join(', '),
  );
}

function short(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1).toWellFormed()}…`;
}

function ok(step: UrlStep['step'], detail: string, ms?: number): UrlStep {
  return { step, ok: true, detail, ...(ms !== undefined && { ms: Math.round(ms) }) };
}

function failed(step: UrlStep['step'], detail: string): UrlStep {
  return { step, ok: false, detail };
}

/** Below this many days a certificate that is still valid is worth a word. */
const SOON_DAYS = 14;

function ended(steps: UrlStep[], target?: Target): UrlCheck {
  const bad = steps.find((step) => !step.ok);
  if (bad !== undefined) return { ok: false, steps, sentence: `The URL cannot be used. ${bad.detail}` };
  const daysLeft = steps.at(-1)?.certificate?.daysLeft ?? Infinity;
  const soon = daysLeft < SOON_DAYS ? ` Its certificate ends in ${countDays(daysLeft)}: renew it.` : '';
  const clear = target?.isTls === false ? ' Without TLS everybody on the way can read the events: use https://.' : '';
  return { ok: true, steps, sentence: `The URL can be used.${soon}${clear}` };
}
