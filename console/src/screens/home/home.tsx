import { Page } from '../../shell/page.tsx';

export function Home() {
  return <Page title="Home">To be made.</Page>;
}
