import { Page } from '../../shell/page.tsx';

export function Team() {
  return <Page title="Team">To be made.</Page>;
}
