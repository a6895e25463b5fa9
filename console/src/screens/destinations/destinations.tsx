import { Page } from '../../shell/page.tsx';

export function Destinations() {
  return <Page title="Destinations">To be made.</Page>;
}
