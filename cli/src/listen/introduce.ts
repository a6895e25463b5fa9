/** The first lines of `millrace listen`: where to send calls, and where they go. */
import { inline, printJsonLine, remark } from '../output/print.ts';
import type { View } from '../view/open-view.ts';
import type { FoundRemote } from './find-remote.ts';
import type { Forwarding, Plan } from './read-plan.ts';

export type Origin = { kind: 'here'; url: string } | { kind: 'there'; remote: FoundRemote };

/** On standard error beside compact lines, so that standard output has only what arrived. */
export function introduce(plan: Plan, origin: Origin, view: View | undefined): void {
  const title = `millrace listen  ${titleOf(plan, origin)}`;
  const lines = [
    ...(origin.kind === 'here' ? howTo(origin.url) : asWhom(plan, origin.remote)),
    ...forwardLines(plan.forward),
  ];
  if (plan.output === 'json') printJsonLine(introJson(plan, origin));
  else if (view === undefined) remark([title, ...lines.map((line) => `  ${line}`)].join('\n'));
  else view.setHeader({ title, lines });
}

function titleOf({ writeKey }: Plan, origin: Origin): string {
  if (origin.kind === 'here') return `${origin.url}   write key: ${writeKey === undefined ? 'any' : 'the one given'}`;
  const { source, control } = origin.remote;
  return inline(`source ${source.name} of ${control.server}`);
}

function howTo(url: string): string[] {
  return [
    `Node      new Client({ writeKey: 'dev', endpoint: '${url}' })`,
    `Segment   new Analytics({ writeKey: 'dev', host: '${url}' })`,
    `curl      curl ${url}/v1/track -u dev: -d '{"event":"Hello","userId":"u1"}'`,
    `webhooks  ${url}/hook, or any other path`,
  ];
}

function asWhom({ forward }: Plan, { destination }: FoundRemote): string[] {
  if (destination === undefined) return [];
  const { name, id, headerNames } = destination;
  const given = new Set(Object.keys(forward?.headers ?? {}).map((header) => header.toLowerCase()));
  const hidden = headerNames.filter((header) => !given.has(header.toLowerCase()));
  const missing = `headers  ${inline(hidden.join(', '))}: the server keeps their values; add them with --header`;
  return [`as       ${inline(name)} (${id}): its body, filters and ids`, ...(hidden.length === 0 ? [] : [missing])];
}

function forwardLines(forward: Forwarding | undefined): string[] {
  if (forward === undefined) return [];
  const { url, secret, isSecretMade } = forward;
  const signed = isSecretMade ? `secret    ${secret} (made for this session)` : 'secret    the one given';
  return [`forward   ${url}`, signed];
}

function introJson({ forward }: Plan, origin: Origin): Record<string, unknown> {
  const from =
    origin.kind === 'here'
      ? { url: origin.url }
      : { server: origin.remote.control.server, sourceId: origin.remote.source.id };
  const to =
    forward === undefined ? {} : { forward: forward.url, ...(forward.isSecretMade ? { secret: forward.secret } : {}) };
  return { at: new Date().toISOString(), kind: 'listening', ...from, ...to };
}
