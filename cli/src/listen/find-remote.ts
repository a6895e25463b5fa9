/** The source and the destination that `--from` names, as the server has them. Secrets never leave the server. */
import type { DestinationConfig, WebhookSettings } from '@millrace/server/forward';
import type { Control } from '../api/control.ts';
import { connect } from '../api/server-options.ts';
import { Failure } from '../output/failures.ts';
import type { Remote } from './read-plan.ts';

export type FoundRemote = {
  control: Control;
  source: Named;
  destination: FoundDestination | undefined;
  /** Names of track events that the source's schema keeps from all destinations. */
  blockedEvents: string[];
};

export type FoundDestination = Named &
  Pick<DestinationConfig, 'catalog' | 'filters'> & {
    bodyFormat: WebhookSettings['bodyFormat'];
    /** Headers whose values the server keeps to itself. */
    headerNames: string[];
  };

type Named = { id: string; name: string };

export async function findRemote({ server, source, as, token, workspace }: Remote): Promise<FoundRemote> {
  const where = URL.canParse(server) ? { server } : { profile: server };
  const control = await connect({
    ...where,
    ...(token === undefined ? {} : { token }),
    ...(workspace === undefined ? {} : { workspace }),
  });
  const found = await findNamed(control, 'source', source, {});
  const destination = as === undefined ? undefined : await findDestination(control, found, as);
  const blockedEvents: string[] = [];
  if (destination !== undefined) {
    const names = control.list<{ name: string; blocked: boolean }>(`/sources/${found.id}/events`);
    for await (const { name, blocked } of names) if (blocked) blockedEvents.push(name);
  }
  return { control, source: found, destination, blockedEvents };
}

type ShownDestination = Named &
  Pick<DestinationConfig, 'catalog'> & {
    filters: NonNullable<DestinationConfig['filters']>;
    settings: { bodyFormat?: WebhookSettings['bodyFormat']; targets?: { headers?: Record<string, unknown> }[] };
  };

async function findDestination(control: Control, source: Named, as: string): Promise<FoundDestination> {
  const shown = await findNamed<ShownDestination>(control, 'destination', as, { sourceId: source.id });
  const { id, name, catalog, filters, settings } = shown;
  const headerNames = Object.keys(settings.targets?.[0]?.headers ?? {});
  return { id, name, catalog, filters, bodyFormat: settings.bodyFormat, headerNames };
}

async function findNamed<Item extends Named>(
  control: Control,
  kind: 'source' | 'destination',
  wanted: string,
  query: { sourceId?: string },
): Promise<Item> {
  const all: Item[] = [];
  for await (const item of control.list<Item>(`/${kind}s`, query)) all.push(item);
  const byId = all.find(({ id }) => id === wanted);
  if (byId !== undefined) return byId;
  const [first, second] = all.filter(({ name }) => name === wanted);
  if (first !== undefined && second === undefined) return first;
  if (first !== undefined) {
    throw new Failure(`Several ${kind}s are called ${wanted}.`, {
      exit: 'notFound',
      todo: `Give the id of one: ${all
        .filter(({ name }) => name === wanted)
        .map(({ id }) => id)
        .join(', ')}.`,
    });
  }
  const known = all.slice(0, 10).map(({ id, name }) => `${name} (${id})`);
  throw new Failure(`There is no ${kind} ${wanted}.`, {
    exit: 'notFound',
    todo:
      known.length === 0
        ? `There are no ${kind}s yet.`
        : `There are: ${known.join(', ')}${all.length > 10 ? ', …' : ''}.`,
  });
}
