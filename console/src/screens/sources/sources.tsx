import { Page } from '../../shell/page.tsx';

export function Sources() {
  return <Page title="Sources">To be made.</Page>;
}
