import { count } from '../../format/numbers.ts';
import { skippedWords } from '../../parts/job/replay-words.ts';

export function LeftOutList({ skipped }: { skipped: Readonly<Record<string, number>> }) {
  const parts = skippedWords(skipped);
  if (parts.length === 0) return null;
  return (
    <div className="soft">
      Left out of the range:
      <ul>
        {parts.map(({ reason, words, count: skips }) => (
          <li key={reason}>
            {count(skips)}: {words} <code className="dim">{reason}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}
