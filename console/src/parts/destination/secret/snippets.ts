/**
 * Receivers that verify signatures, as the examples of the repository have them: CI runs those files, so that what people copy
 * from here works. They read the secret from WEBHOOK_SECRET, so that no snippet holds it.
 */
import go from '../../../../../examples/receiving/go/receiver.go?raw';
// oxlint-disable-next-line import/extensions, import/default -- the text of the file, and not its code
import node from '../../../../../examples/receiving/node/receiver.js?raw';
import php from '../../../../../examples/receiving/php/receiver.php?raw';
import python from '../../../../../examples/receiving/python/receiver.py?raw';
import { checkIn } from './check-in.ts';
import { curlSnippet } from './curl-snippet.ts';

/** `check`: the part that verifies. `whole`: the file, where there is more. */
export type Snippet = { value: string; label: string; check: string; whole: string | undefined };

export function snippetsFor(url: string): Snippet[] {
  return [
    { value: 'node', label: 'Node', check: checkIn(node), whole: node },
    { value: 'go', label: 'Go', check: checkIn(go), whole: go },
    { value: 'python', label: 'Python', check: checkIn(python), whole: python },
    { value: 'php', label: 'PHP', check: checkIn(php), whole: php },
    { value: 'curl', label: 'curl', check: curlSnippet(url), whole: undefined },
  ];
}
