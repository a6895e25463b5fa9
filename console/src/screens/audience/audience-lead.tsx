import type { Definition, Destination } from '@millrace/contract/control';
import { useState } from 'react';
import { cutText, visible } from '../../format/texts.ts';
import { useMay } from '../../api/session.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { standingOf } from '../../parts/audience/definition-standing.ts';
import { OuterText } from '../../parts/texts.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { leadWords, nextWords } from './lead-words.ts';
import { ResyncDialog } from './resync-dialog.tsx';

type AudienceLeadProps = { definition: Definition; destinations: readonly Destination[] };

export function AudienceLead({ definition, destinations }: AudienceLeadProps) {
  const may = useMay('audiences:write');
  const [asks, setAsks] = useState<'delete' | 'resync' | undefined>();
  const standing = standingOf(definition);
  const named = destinations.filter(({ id }) => definition.destinations.includes(id)).map(({ name }) => name);
  const isEnding = definition.state === 'deleting';
  const close = () => setAsks(undefined);
  return (
    <>
      <Sentence
        state={{ name: standing.state, words: `${standing.word}.` }}
        then={<OuterText text={nextWords(definition, named)} most={600} />}
        actions={
          may &&
          !isEnding && (
            <>
              {definition.state === 'live' && definition.destinations.length > 0 && (
                <Button onClick={() => setAsks('resync')}>Send again…</Button>
              )}
              <Button look="danger" onClick={() => setAsks('delete')}>
                Delete…
              </Button>
              <LinkButton look="ink" to="/audiences/$id/edit" params={{ id: definition.id }}>
                Edit
              </LinkButton>
            </>
          )
        }
      >
        <OuterText text={leadWords(definition)} most={600} />
      </Sentence>
      <DeleteDialog
        definition={definition}
        destinations={named.map((name) => cutText(visible(name), 40))}
        isOpen={asks === 'delete'}
        close={close}
      />
      <ResyncDialog definition={definition} destinations={destinations} isOpen={asks === 'resync'} close={close} />
    </>
  );
}
