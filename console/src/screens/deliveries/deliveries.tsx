import { Page } from '../../shell/page.tsx';

export function Deliveries() {
  return <Page title="Deliveries">To be made.</Page>;
}
