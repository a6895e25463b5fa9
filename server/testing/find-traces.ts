/** Where a text stands in the stores of a stack: every column of every table, every stream and bucket with its subjects. */
import type { Stack } from './stack.ts';

export const asJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** As it is, as JSON writes it once and twice, and as bytes. Without the name of a partition. */
export async function columnsWith(stack: Stack, text: string): Promise<string[]> {
  type Column = { table_name: string; column_name: string };
  const columns = await stack.sql<Column>(`SELECT c.table_name, c.column_name FROM information_schema.columns c
    JOIN information_schema.tables t USING (table_schema, table_name)
    WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE' ORDER BY 1, 2`);
  const once = asJson(text);
  const forms = [...new Set([text, once, asJson(once), Buffer.from(text).toString('hex')])];
  const found = new Set<string>();
  for (const [table, own] of Map.groupBy(columns, (column) => column.table_name)) {
    const holds = own.map(
      ({ column_name: name }) => `CASE WHEN EXISTS (SELECT FROM "${table}", unnest($1::text[]) AS form
      WHERE strpos("${name}"::text, form) > 0) THEN '${name}' END`,
    );
    const [row] = await stack.sql<{ names: (string | null)[] }>(`SELECT ARRAY[${holds.join()}] AS names`, [forms]);
    for (const name of row?.names ?? []) if (name !== null) found.add(`${table.replace(/_\d{8}$/, '')}.${name}`);
  }
  return [...found].toSorted();
}

/** The streams, with those of buckets, that hold a text in a message, a subject or the name of a consumer; not those of events. */
export async function streamsWith(stack: Stack, text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { config } of stack.manager.streams.list()) {
    const { name } = config;
    const { state } = await stack.manager.streams.info(name, { subjects_filter: '>' });
    const consumers = await Array.fromAsync(stack.manager.consumers.list(name));
    const names = JSON.stringify([state.subjects ?? {}, consumers.map((each) => each.config)]);
    const content = name.startsWith('EVENTS') ? '' : await stack.textOf(name);
    if ([names, content].some((each) => each.includes(asJson(text)))) found.push(name);
  }
  return found.toSorted();
}
