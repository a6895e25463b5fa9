import type { Metrics } from '../../metrics/open-metrics.ts';
import type { Answer } from '../client/post.ts';
import type { AttemptNeeds } from './attempt.ts';

type SendPost = AttemptNeeds['post'];

/** Counts the POSTs themselves: the other metrics count the events of a batch each. */
export function countPosts(send: SendPost, metrics: Pick<Metrics, 'counters'>): SendPost {
  const posts = metrics.counters('millrace_posts_total');
  const note = (answer: Answer) => {
    posts(answer.kind === 'error' ? 'none' : `${Math.floor(answer.status / 100)}xx`).add();
    return answer;
  };
  return (post) => send(post).then(note);
}
