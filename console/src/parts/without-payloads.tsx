import { Note } from './note.tsx';

/** Stands where a role that sees no payloads would see some. `what` begins the sentence: "The stored event is". */
export function WithoutPayloads({ what }: { what: string }) {
  return (
    <Note title="Your role sees no payloads.">
      {what} not shown to a viewer without payloads. Ask an owner or admin for another role if you need it.
    </Note>
  );
}
