import { CheckUrl, UrlCheck } from '@millrace/contract/control';
import { deliverRoute, type Route } from '../../http/route.ts';
import { urlProblem } from '../../settings/webhook-url.ts';
import { askDeliver, notDone } from './ask-deliver.ts';

export const checkUrlRoutes: Route[] = [
  deliverRoute({
    method: 'POST',
    url: '/api/v1/destinations/check-url',
    summary: 'Whether a URL can be used for webhooks, step by step; connects to it and sends nothing',
    body: CheckUrl,
    answer: UrlCheck,
    status: 200,
    permission: 'destinations:write',
    async ask({ body }, needs) {
      // As when a destination is saved: deliver need not be asked about a URL that could not be.
      const problem = urlProblem(body.url, needs.networks);
      if (problem !== undefined) return refused(`The URL ${problem}.`);
      const answer = await askDeliver({ kind: 'check_url', url: new URL(body.url).href }, needs);
      if (answer.kind !== 'url_checked') throw notDone(answer);
      return answer.check;
    },
  }),
];

function refused(detail: string): UrlCheck {
  const steps: UrlCheck['steps'] = [{ step: 'url', ok: false, detail }];
  return { ok: false, steps, sentence: `The URL cannot be used. ${detail}` };
}
