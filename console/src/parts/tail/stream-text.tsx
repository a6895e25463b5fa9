/** Whether the live tail is connected, in words. */
import type { StreamState } from '../../api/stream-control.ts';
import { clock } from '../../format/times.ts';
import styles from './stream-text.module.css';

export function StreamText({ state }: { state: StreamState }) {
  switch (state.name) {
    case 'connecting':
      return <span className="dim">Connecting to the live tail…</span>;
    case 'live':
      return (
        <span className="dim nowrap">
          <span className={styles.pulse} /> Live
        </span>
      );
    case 'waiting':
      return (
        <span role="status">
          <b>Not live:</b> {state.why}. The console connects again at {clock(state.againAt)}.
        </span>
      );
    case 'stopped':
      return (
        <span role="alert">
          <b>Not live.</b> {state.problem.title}. {state.problem.detail} <code>{state.problem.code}</code>
        </span>
      );
  }
}
