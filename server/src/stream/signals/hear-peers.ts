import type { Connection } from '../nats/connect-nats.ts';
import { PEERS_SUBJECT } from '../layout/layout.ts';
import { hearTexts } from './hear-texts.ts';
import { GONE_AFTER_MS } from './peers.ts';

/** `settingsKnown` is the newest format of destinations that it reads: 1 for versions that do not tell. */
export type HeardPeer = { id: string; version: string | null; settingsKnown: number };
/** Undefined while the NATS user may not listen. */
export type HeardPeers = Disposable & { list(): HeardPeer[] | undefined };

/** Listens to the heartbeats of deliver processes: an id, and its version and format if the process is new enough to tell. */
export function hearPeers(connection: Connection, askAgainMs?: number): HeardPeers {
  const again = askAgainMs === undefined ? {} : { askAgainMs };
  const { list, ...hearing } = hearTexts(connection, { subject: PEERS_SUBJECT, goneAfterMs: GONE_AFTER_MS, ...again });
  return { ...hearing, list: () => list()?.map(readPeer) };
}

function readPeer(text: string): HeardPeer {
  const [id = '', version = null, format = '1'] = text.split(' ');
  return { id, version, settingsKnown: /^\d{1,4}$/.test(format) ? Number(format) : 1 };
}
