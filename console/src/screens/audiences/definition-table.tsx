import type { Definition, Destination } from '@millrace/contract/control';
import { count } from '../../format/numbers.ts';
import { visible } from '../../format/texts.ts';
import { completenessWords, standingOf } from '../../parts/audience/definition-standing.ts';
import { ProgressMeter } from '../../parts/audience/progress-meter.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { OuterLink, OuterText } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';

type DefinitionTableProps = { definitions: readonly Definition[]; destinations: readonly Destination[] | undefined };

export function DefinitionTable({ definitions, destinations }: DefinitionTableProps) {
  const names = new Map((destinations ?? []).map(({ id, name }) => [id, name]));
  return (
    <div className="tablewrap">
      <table className="folds">
        <thead>
          <tr>
            <th>Name and key</th>
            <th>Kind</th>
            <th>State</th>
            <th className="num">Users</th>
            <th>Events</th>
            <th>Told to</th>
          </tr>
        </thead>
        <tbody>
          {definitions.map((definition) => (
            <Row key={definition.id} definition={definition} names={names} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ definition, names }: { definition: Definition; names: ReadonlyMap<string, string> }) {
  const { id, name, key, kind, size, progress } = definition;
  const now = useNow(60_000);
  const standing = standingOf(definition);
  const missing = completenessWords(definition, now);
  return (
    <tr>
      <td>
        <b>
          <OuterLink className="plain" to="/audiences/$id" params={{ id }} text={name} most={60} />
        </b>
        <span className="sub mono">
          <OuterText text={key} most={60} />
        </span>
      </td>
      <td>{kind === 'audience' ? 'audience' : 'computed trait'}</td>
      <td>
        <StateText state={standing.state}>{standing.word}</StateText>
        <ProgressMeter progress={definition.edit?.progress ?? progress} label={`Progress of ${visible(name)}`} />
      </td>
      <td className="num" data-label="users">
        {count(size)}
      </td>
      <td>
        {missing === undefined ? (
          <span className="dim">complete</span>
        ) : (
          <span title={missing.sentence}>
            {missing.title.replace(/\.$/, '').replace(/^[CI]/, (letter) => letter.toLowerCase())}
          </span>
        )}
      </td>
      <td data-label="told to">
        <Told definition={definition} names={names} />
      </td>
    </tr>
  );
}

function Told({ definition, names }: { definition: Definition; names: ReadonlyMap<string, string> }) {
  const [first, ...others] = definition.destinations;
  if (first === undefined) return <span className="dim">nobody</span>;
  return (
    <>
      <OuterLink
        className="plain"
        to="/destinations/$id"
        params={{ id: first }}
        text={names.get(first) ?? first}
        most={28}
      />
      {others.length > 0 && <span className="dim"> and {others.length} more</span>}
    </>
  );
}
