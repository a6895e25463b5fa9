import { Page } from '../../shell/page.tsx';

export function Usage() {
  return <Page title="Usage">To be made.</Page>;
}
