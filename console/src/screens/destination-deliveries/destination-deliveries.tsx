import { Page } from '../../shell/page.tsx';

export function DestinationDeliveries() {
  return <Page title="DestinationDeliveries">To be made.</Page>;
}
