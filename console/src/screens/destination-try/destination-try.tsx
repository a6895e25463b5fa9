import { Page } from '../../shell/page.tsx';

export function DestinationTry() {
  return <Page title="DestinationTry">To be made.</Page>;
}
