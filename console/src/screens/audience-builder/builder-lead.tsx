import type { Definition as SavedDefinition, Destination } from '@millrace/contract/control';
import { estimateWords, sizeWords } from '../../parts/audience/definition-standing.ts';
import { effectsOf } from '../../parts/audience/draft/change-of.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { cutText, visible } from '../../format/texts.ts';
import type { useBuilder } from './use-builder.ts';
import type { LiveSize } from './use-size.ts';

type BuilderLeadProps = {
  builder: ReturnType<typeof useBuilder>;
  saved: SavedDefinition | undefined;
  destinations: readonly Destination[];
  size: LiveSize;
};

/** How many it would be, and what saving does. */
export function BuilderLead({ builder, saved, destinations, size }: BuilderLeadProps) {
  const { draft, isChanged, isBusy, save } = builder;
  const name = cutText(visible(draft.name.trim()), 60);
  const noun = draft.kind === 'audience' ? 'audience' : 'computed trait';
  const nameOf = (id: string) => {
    const found = destinations.find((each) => each.id === id)?.name ?? id;
    return cutText(visible(found), 40);
  };
  const actions = (
    <>
      {saved === undefined ? (
        <LinkButton to="/audiences">Discard</LinkButton>
      ) : (
        <LinkButton to="/audiences/$id" params={{ id: saved.id }}>
          Discard
        </LinkButton>
      )}
      <Button look="ink" className="m-hide" isBusy={isBusy} disabled={saved !== undefined && !isChanged} onClick={save}>
        {saved === undefined ? `Create ${noun}` : 'Save'}
      </Button>
    </>
  );
  const told =
    saved === undefined
      ? firstWords(draft.kind, draft.destinations.map(nameOf))
      : effectsOf(
          {
            change: builder.change,
            before: builder.before,
            version: saved.version,
            key: visible(saved.key),
            size: sizeWords({ kind: 'audience', size: saved.size }),
          },
          nameOf,
        );
  return (
    <Sentence
      actions={actions}
      then={<OuterText text={told.length === 0 ? 'Nothing is changed yet.' : told.join(' ')} most={900} />}
    >
      <OuterText text={headline(name === '' ? `this ${noun}` : name, draft.kind, size)} most={300} />
    </Sentence>
  );
}

function headline(name: string, kind: 'audience' | 'trait', { preview, isWhole }: LiveSize): string {
  if (preview === undefined || !isWhole)
    return `Describe ${kind === 'audience' ? 'who is in' : 'what is computed for'} ${name}.`;
  const { size } = estimateWords(preview);
  const users = `${size} ${preview.size === 1 ? 'user' : 'users'}`;
  const sentence = kind === 'audience' ? `${users} would be in ${name}.` : `${users} would have a value of ${name}.`;
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}

function firstWords(kind: 'audience' | 'trait', destinations: readonly string[]): string[] {
  const whom = destinations.length === 0 ? 'No destination is attached yet, so nobody is told.' : undefined;
  if (whom !== undefined) return [whom, 'The size and the users are there as soon as it is created.'];
  return [
    `${destinations.join(', ')} ${destinations.length === 1 ? 'gets' : 'get'} one identify call for each ${kind === 'audience' ? 'user in it' : 'user with a value'} when it is created, then changes only.`,
  ];
}
