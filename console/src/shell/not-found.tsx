import { LinkButton } from '../parts/button.tsx';
import { Door } from './door.tsx';

export function NotFound() {
  return (
    <Door title="There is no such page" sub="The address may be of an older console, or it was cut when it was copied.">
      <LinkButton look="ink" to="/">
        Home
      </LinkButton>
    </Door>
  );
}
