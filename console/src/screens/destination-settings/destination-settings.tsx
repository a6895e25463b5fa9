import { Page } from '../../shell/page.tsx';

export function DestinationSettings() {
  return <Page title="DestinationSettings">To be made.</Page>;
}
