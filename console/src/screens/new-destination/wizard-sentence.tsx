import type { Destination } from '@millrace/contract/control';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { localSentence } from '../../format/sentences.ts';
import { healthOf } from './first-health.ts';
import { useFirstHealth } from './use-first-health.ts';

type WizardSentenceProps = {
  name: string;
  saved: Destination | undefined;
  lacks: string | undefined;
  isChanged: boolean;
};

/** How far the destination is; once it is enabled, how it does. */
export function WizardSentence({ name, saved, lacks, isChanged }: WizardSentenceProps) {
  const health = useFirstHealth(saved);
  const called = name === '' ? 'The destination' : <OuterText text={name} most={60} />;
  if (saved === undefined) {
    return (
      <Sentence then="Millrace sends nothing to it until you enable it in the last step. This tab keeps what you typed, without the secret and the values of headers.">
        {lacks === undefined ? <>{called} can be created.</> : lacks}
      </Sentence>
    );
  }
  if (!saved.enabled) {
    return (
      <Sentence then="Millrace sends nothing to it but your tests until you enable it.">
        {isChanged ? (
          <>{called} has changes that are not saved.</>
        ) : (
          <>{called} is created and disabled: test it, then enable it.</>
        )}
      </Sentence>
    );
  }
  const first = healthOf(health);
  return (
    <Sentence
      state={{ name: first.state, words: first.words }}
      then={health === undefined ? undefined : localSentence(health.sentence)}
    >
      {first.rest}
    </Sentence>
  );
}
