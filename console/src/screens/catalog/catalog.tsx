import { Page } from '../../shell/page.tsx';

export function Catalog() {
  return <Page title="Catalog">To be made.</Page>;
}
