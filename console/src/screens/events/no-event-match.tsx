import { Button, LinkButton } from '../../parts/button.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { type UrlSearch, useSetSearch } from '../../parts/lists/url-filters.tsx';
import { FILTER_NAMES, type Looked, lookedSentence, SPANS } from '../../parts/stored-events/stored-events.ts';

const WORDS: Readonly<Record<string, string>> = {
  userId: 'user',
  name: 'event name',
  type: 'type',
  text: 'text',
  range: 'received',
};

type NoEventMatchProps = { search: UrlSearch; looked: Looked; now: number };

/** The filters that were asked for, how far Millrace looked, and a button to loosen each of them. */
export function NoEventMatch({ search, looked, now }: NoEventMatchProps) {
  const set = useSetSearch();
  const given = FILTER_NAMES.flatMap((name) => {
    const value = search[name];
    return value === undefined || value === ''
      ? []
      : [{ name, value: name === 'range' ? (SPANS[value]?.label ?? value) : value }];
  });
  const messageId = search.text;
  return (
    <div className="empty">
      <h3>No stored event matches</h3>
      <p>
        {lookedSentence(looked, now)} Filters:{' '}
        {given.map(({ name, value }, place) => (
          <span key={name}>
            {place > 0 && ', '}
            {WORDS[name]} <OuterText text={value} most={60} />
          </span>
        ))}
        . Events of erased and suppressed users never match.
      </p>
      <div className="btns">
        {given.length > 1 &&
          given.map(({ name }) => (
            <Button key={name} onClick={() => set({ [name]: undefined })}>
              Without {WORDS[name]}
            </Button>
          ))}
        <Button onClick={() => set(Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined])))}>
          Remove all filters
        </Button>
        {messageId !== undefined && messageId.length > 8 && !messageId.includes(' ') && (
          <LinkButton look="quiet" to="/events/$messageId" params={{ messageId }}>
            Explain it as a messageId
          </LinkButton>
        )}
      </div>
    </div>
  );
}
