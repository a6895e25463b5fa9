import { Page } from '../../shell/page.tsx';

export function Deletion() {
  return <Page title="Deletion">To be made.</Page>;
}
