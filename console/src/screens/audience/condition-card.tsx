import type { Definition } from '@millrace/contract/control';
import { definitionWords, exactnessWords, type Names } from '../../parts/audience/condition-words.ts';
import { writtenOf } from '../../parts/audience/saved-definition.ts';
import { SentenceText } from '../../parts/audience/sentence-text.tsx';
import { Card } from '../../parts/card.tsx';
import { Json } from '../../parts/code.tsx';

/** The condition as a sentence, and as the API has it. */
export function ConditionCard({ definition, names }: { definition: Definition; names: Names }) {
  const written = writtenOf(definition);
  const exactness = exactnessWords(written);
  return (
    <Card title="In words" aside={`version ${definition.version}`}>
      <div className="pad stack">
        <p>
          <SentenceText pieces={definitionWords(written, names)} />
        </p>
        {exactness !== undefined && <p className="small dim">{exactness}</p>}
        <details>
          <summary className="small soft">As JSON</summary>
          <Json value={written} label="the definition" foldsAfter={40} />
        </details>
      </div>
    </Card>
  );
}
