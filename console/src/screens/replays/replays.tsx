import { Page } from '../../shell/page.tsx';

export function Replays() {
  return <Page title="Replays">To be made.</Page>;
}
