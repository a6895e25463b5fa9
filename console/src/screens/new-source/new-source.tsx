import { Page } from '../../shell/page.tsx';

export function NewSource() {
  return <Page title="NewSource">To be made.</Page>;
}
