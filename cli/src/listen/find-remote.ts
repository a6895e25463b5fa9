/** The source and the destination that `--from` names, as the server has them. Secrets never leave the server. */
import type { Destination, Source } from '@millrace/contract/control';
import type { DestinationConfig, WebhookSettings } from '@millrace/server/forward';
import type { Control } from '../api/control.ts';
import { findDestination, findSource } from '../api/find-named.ts';
import { connect } from '../api/server-options.ts';
import { Failure } from '../output/failures.ts';
import { inline } from '../output/print.ts';
import type { Remote } from './read-plan.ts';

export type FoundRemote = {
  control: Control;
  source: Source;
  destination: FoundDestination | undefined;
  /** Names of track events that the source's schema keeps from all destinations. */
  blockedEvents: string[];
};

export type FoundDestination = Pick<DestinationConfig, 'id' | 'name' | 'catalog' | 'filters'> & {
  bodyFormat: WebhookSettings['bodyFormat'];
  /** Headers whose values the server keeps to itself. */
  headerNames: string[];
};

export async function findRemote({ server, source: named, as, token, workspace }: Remote): Promise<FoundRemote> {
  const where = URL.canParse(server) ? { server } : { profile: server };
  const control = await connect({
    ...where,
    ...(token === undefined ? {} : { token }),
    ...(workspace === undefined ? {} : { workspace }),
  });
  const source = await findSource(control, named);
  if (as === undefined) return { control, source, destination: undefined, blockedEvents: [] };
  const destination = await findDestination(control, as);
  if (destination.sourceId !== source.id) {
    throw new Failure(inline(`The destination ${destination.name} gets no events of ${source.name}.`), {
      exit: 'usage',
      todo: `Give --source ${destination.sourceId}, or another destination.`,
    });
  }
  const blockedEvents: string[] = [];
  const names = control.list<{ name: string; blocked: boolean }>(`/sources/${source.id}/events`);
  for await (const { name, blocked } of names) if (blocked) blockedEvents.push(name);
  return { control, source, destination: withSettings(destination), blockedEvents };
}

/** The settings of a webhook as the API shows them: without the values of secrets. */
type ShownSettings = { bodyFormat?: WebhookSettings['bodyFormat']; targets?: { headers?: Record<string, unknown> }[] };

function withSettings({ id, name, catalog, filters, settings }: Destination): FoundDestination {
  const { bodyFormat, targets = [] } = settings as ShownSettings;
  const headerNames = Object.keys(targets[0]?.headers ?? {});
  return { id, name, catalog, filters, bodyFormat, headerNames };
}
