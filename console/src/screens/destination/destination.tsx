import { Page } from '../../shell/page.tsx';

export function DestinationScreen() {
  return <Page title="DestinationScreen">To be made.</Page>;
}
