import { Page } from '../../shell/page.tsx';

export function DeliveryScreen() {
  return <Page title="DeliveryScreen">To be made.</Page>;
}
