import type { Destination } from '@millrace/contract/control';
import type { Page } from '../../api/queries.ts';
import { nameIn } from '../../format/names.ts';
import { localSentence } from '../../format/sentences.ts';
import { shortId } from '../../format/texts.ts';
import { Button } from '../../parts/button.tsx';
import { Row, RowTable } from '../../parts/lists/row-table.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import { REASONS, type TellingLetter } from './letters.ts';

const COLUMNS = [
  { name: 'Event' },
  { name: 'Given up' },
  { name: 'Why' },
  { name: 'Destination', isWide: true },
  { name: 'Attempts', isNumber: true, isWide: true },
  { name: 'Actions', isHidden: true },
];

type LetterRowsProps = {
  letters: readonly TellingLetter[];
  destinations: Page<Destination> | undefined;
  shown: string | undefined;
  show(id: string): void;
};

export function LetterRows({ letters, destinations, shown, show }: LetterRowsProps) {
  return (
    <RowTable label="Dead letters" columns={COLUMNS}>
      {letters.map((letter) => (
        <Row key={letter.id} isSelected={shown === letter.id} open={() => show(letter.id)}>
          <td>
            <OuterLink
              to="/events/$messageId"
              params={{ messageId: letter.messageId }}
              text={letter.delivery?.name ?? letter.type}
              most={40}
            />
            <User letter={letter} />
          </td>
          <td className="nowrap">
            <TimeText at={letter.deadAt} />
          </td>
          <td>
            <StateText state="givenup">{REASONS[letter.reason].label}</StateText>
            <Why letter={letter} />
          </td>
          <td className="m-hide">
            <OuterText
              text={nameIn(destinations, letter.destinationId, `deleted (${shortId(letter.destinationId)})`)}
            />
          </td>
          <td className="num m-hide">{letter.attempts}</td>
          <td className="num">
            <Button small look="quiet" onClick={() => show(letter.id)} aria-label={`Details of ${letter.id}`}>
              Details
            </Button>
          </td>
        </Row>
      ))}
    </RowTable>
  );
}

function User({ letter: { delivery } }: { letter: TellingLetter }) {
  if (delivery === undefined) return null;
  const user = delivery.userId ?? delivery.anonymousId;
  return <span className="sub mono">{user === null ? '' : <OuterText text={user} most={32} />}</span>;
}

function Why({ letter: { delivery } }: { letter: TellingLetter }) {
  if (delivery === undefined || delivery.sentence === null) return null;
  return (
    <span className="sub">
      <OuterText text={localSentence(delivery.sentence)} most={120} />{' '}
      {delivery.errorClass !== null && <code>{delivery.errorClass}</code>}
    </span>
  );
}
