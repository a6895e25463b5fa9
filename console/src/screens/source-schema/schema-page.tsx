import { TextInput } from '@mantine/core';
import type { Source, SourceSchema } from '@millrace/contract/control';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Empty, ListStates, NoMatch } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { SourceTabs } from '../../parts/source-tabs.tsx';
import { toJsonSchema } from './json-schema.ts';
import { PropertyDrawer } from './property-drawer.tsx';
import { saveJson } from './save-file.ts';
import { keyOf, matching } from './schema-rows.ts';
import { SchemaSentence } from './schema-sentence.tsx';
import { SchemaTable } from './schema-table.tsx';
import { useBlock } from './use-block.ts';
import { useSchema } from './use-schema.ts';

export function SchemaPage({ source }: { source: Source }) {
  const { filter = '', event } = useSearch({ from: '/shell/sources/$id/schema' });
  const navigate = useNavigate({ from: '/sources/$id/schema' });
  const change = (to: { filter?: string; event?: string | undefined }) =>
    void navigate({ search: { ...clean({ filter, event, ...to }) }, replace: true, resetScroll: false });
  const { schema, names, rows } = useSchema(source.id);
  const { block, error, busyWith } = useBlock(source.id);
  const shown = matching(rows, filter);
  const chosen = rows.find((row) => keyOf(row) === event);
  const { data } = schema;
  return (
    <>
      <SchemaSentence
        source={source}
        schema={data}
        rows={rows}
        actions={data !== undefined && data.items.length > 0 && <Export source={source} schema={data} />}
      />
      <SourceTabs id={source.id} current="schema" names={data === undefined ? undefined : rows.length} />
      {error !== null && <ProblemNote error={error} what="The event was not changed." />}
      <Card
        title="What it sends"
        aside="the row opens its properties"
        right={
          rows.length > 0 && (
            <TextInput
              aria-label="Filter by name, type or property"
              placeholder="Name, type or property"
              size="xs"
              value={filter}
              data-filter
              onChange={({ currentTarget }) => change({ filter: currentTarget.value })}
            />
          )
        }
      >
        <ListStates
          read={schema}
          failed="The schema cannot be shown."
          isEmpty={shown.length === 0}
          isFiltered={filter !== '' && rows.length > 0}
          empty={<NothingStored sourceId={source.id} />}
          noMatch={
            <NoMatch loosen={() => change({ filter: '' })}>
              None of {rows.length} names, their types and their properties has “{filter}” in it.
            </NoMatch>
          }
        >
          <SchemaTable
            rows={shown}
            chosen={event}
            choose={(key) => change({ event: key })}
            block={block}
            busyWith={busyWith}
          />
        </ListStates>
        {names.hasNextPage && (
          <div className="pad">
            <Button isBusy={names.isFetchingNextPage} onClick={() => void names.fetchNextPage()}>
              More names that were seen earlier
            </Button>
          </div>
        )}
      </Card>
      {chosen !== undefined && (
        <PropertyDrawer item={chosen} sourceId={source.id} close={() => change({ event: undefined })} />
      )}
    </>
  );
}

function Export({ source, schema }: { source: Source; schema: SourceSchema }) {
  const text = () => toJsonSchema(source, schema);
  return (
    <>
      <CopyButton text={JSON.stringify(text(), null, 2)} label="Copy the JSON Schema">
        Copy
      </CopyButton>
      <Button onClick={() => saveJson(`${source.id}.schema.json`, text())}>Export JSON Schema</Button>
    </>
  );
}

function clean(search: { filter: string; event: string | undefined }): { filter?: string; event?: string } {
  const { filter, event } = search;
  return { ...(filter === '' ? {} : { filter }), ...(event === undefined ? {} : { event }) };
}

function NothingStored({ sourceId }: { sourceId: string }) {
  return (
    <Empty
      title="No stored event yet"
      action={
        <LinkButton look="ink" to="/sources/new" search={{ sourceId }}>
          Send a first call
        </LinkButton>
      }
    >
      Here is each event name with its properties, their types and samples, read from the latest 1,000 stored events.
      From here you block events that no destination should get, and export a JSON Schema.
    </Empty>
  );
}
