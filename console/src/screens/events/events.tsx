import { Page } from '../../shell/page.tsx';

export function Events() {
  return <Page title="Events">To be made.</Page>;
}
