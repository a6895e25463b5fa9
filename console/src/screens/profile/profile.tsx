import { Page } from '../../shell/page.tsx';

export function Profile() {
  return <Page title="Profile">To be made.</Page>;
}
