import { Page } from '../../shell/page.tsx';

export function SourceSettings() {
  return <Page title="SourceSettings">To be made.</Page>;
}
