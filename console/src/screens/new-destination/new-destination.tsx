import { Page } from '../../shell/page.tsx';

export function NewDestination() {
  return <Page title="NewDestination">To be made.</Page>;
}
