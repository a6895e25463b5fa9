import { Page } from '../../shell/page.tsx';

export function NewReplay() {
  return <Page title="NewReplay">To be made.</Page>;
}
