import { CheckUrl, UrlCheck } from '@millrace/contract/control';
import { deliverRoute, type Route } from '../../http/route.ts';
import { urlProblem } from '../../settings/webhook-url.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { askDeliver, notDone } from './ask-deliver.ts';

/** Of a workspace: enough for people, and too few to look for open ports. */
const CHECKS_PER_MINUTE = 60;

export const checkUrlRoutes: Route[] = [
  deliverRoute({
    method: 'POST',
    url: '/api/v1/destinations/check-url',
    summary: 'Whether a URL can be used for webhooks, step by step; connects to it and sends nothing',
    body: CheckUrl,
    answer: UrlCheck,
    status: 200,
    permission: 'destinations:write',
    async ask({ actor: { workspaceId }, body, inWorkspace }, needs) {
      // As when a destination is saved: deliver need not be asked about a URL that could not be.
      const problem = urlProblem(body.url, needs.networks);
      if (problem !== undefined) return refused(`The URL ${problem}.`);
      if (needs.tries?.take(`check-url ${workspaceId}`, CHECKS_PER_MINUTE) === false)
        throw new ApiProblem('too_many_tries');
      const url = new URL(body.url);
      // Before anything is asked: no check is without an entry. Path and query may hold a secret.
      await inWorkspace((_tx, audit) => audit('url.checked', workspaceId, { details: placeOf(url) }));
      const answer = await askDeliver({ kind: 'check_url', url: url.href }, needs);
      if (answer.kind !== 'url_checked') throw notDone(answer);
      return answer.check;
    },
  }),
];

function placeOf({ hostname: host, port, protocol }: URL): { host: string; port: number } {
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

function refused(detail: string): UrlCheck {
  const steps: UrlCheck['steps'] = [{ step: 'url', ok: false, detail }];
  return { ok: false, steps, sentence: `The URL cannot be used. ${detail}` };
}
