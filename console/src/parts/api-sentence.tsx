import { Fragment } from 'react';
import { localSentence } from '../format/sentences.ts';

const CODE = /\b[a-z]+(?:_[a-z0-9]+)+\b/g;

/** A sentence of the API, with local times and with its codes set apart. */
export function ApiSentence({ text }: { text: string }) {
  const sentence = localSentence(text);
  const codes = sentence.match(CODE) ?? [];
  return sentence.split(CODE).map((words, place) => (
    // oxlint-disable-next-line react/no-array-index-key -- the place in the sentence is what a piece is
    <Fragment key={place}>
      {words}
      {codes[place] !== undefined && <code>{codes[place]}</code>}
    </Fragment>
  ));
}
