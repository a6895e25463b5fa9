/** The live tail of a source for React: the stream fills the rows at once, the page hears of it once in a frame. */
import { useEffect, useState } from 'react';
import { type StreamState, streamControl } from '../../api/stream-control.ts';
import { openTailRows, type TailRows } from './tail-rows.ts';

export type TailFilter = { type?: string | undefined; event?: string | undefined; userId?: string | undefined };

export type Tail = { rows: TailRows; state: StreamState; version: number };

/** A component with another source or filter needs another `key`: its tail starts without rows. */
export function useTail(sourceId: string, { type, event, userId }: TailFilter = {}): Tail {
  const [rows] = useState(() => openTailRows());
  const [state, setState] = useState<StreamState>({ name: 'connecting' });
  const [version, setVersion] = useState(0);
  useEffect(() => {
    let frame: number | undefined;
    const tell = () => {
      frame = undefined;
      setVersion((before) => before + 1);
    };
    const path = `/sources/${encodeURIComponent(sourceId)}/tail`;
    const close = streamControl(
      { path, query: { type, event, userId } },
      {
        changed: setState,
        heard(events) {
          rows.add(events, Date.now());
          frame ??= requestAnimationFrame(tell);
        },
      },
    );
    return () => {
      close();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [rows, sourceId, type, event, userId]);
  return { rows, state, version };
}
