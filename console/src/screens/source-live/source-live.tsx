import { Page } from '../../shell/page.tsx';

export function SourceLive() {
  return <Page title="SourceLive">To be made.</Page>;
}
