import type { AskAnswer, Question } from '../../domain/ask.ts';
import type { Client } from '../client/open-client.ts';
import { sendCheckUp } from './send-check-up.ts';
import { postAudit } from './post-audit.ts';
import { readProof } from './read-proof.ts';
import { rebuildRequest } from './rebuild-request.ts';
import { sendTest, type TestNeeds } from './send-test.ts';

export type QuestionNeeds = TestNeeds & { client: Client };

/** Answers a question of control with the HTTP client of the deliveries. */
export function answerQuestion(question: Question, needs: QuestionNeeds): Promise<AskAnswer> {
  switch (question.kind) {
    case 'check_url':
      return needs.client.check(question.url).then((check) => ({ kind: 'url_checked', check }));
    case 'read_proof':
      return readProof(question, needs);
    case 'test':
      return sendTest(question, needs);
    case 'check_up':
      return sendCheckUp(question, needs);
    case 'rebuild':
      return rebuildRequest(question, needs);
    case 'post_audit':
      return postAudit(question, needs);
  }
}
