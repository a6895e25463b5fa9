import { Link } from '@tanstack/react-router';
import { useMay } from '../../api/session.tsx';
import { OuterText } from '../texts.tsx';

type UserLinkProps = { userId?: string | null | undefined; anonymousId?: string | null | undefined; most?: number };

/** A user or an anonymous visitor, leading to the profile. */
export function UserLink({ userId, anonymousId, most = 32 }: UserLinkProps) {
  const maySee = useMay('profiles:read');
  const id = userId ?? anonymousId;
  if (id === undefined || id === null) return <span className="dim">merged into another profile</span>;
  const isAnonymous = userId === undefined || userId === null;
  const text = <OuterText text={id} most={most} />;
  return (
    <>
      {maySee ? (
        <Link
          className="mono"
          to="/profiles/$userId"
          params={{ userId: id }}
          search={isAnonymous ? { kind: 'anonymous' } : {}}
        >
          {text}
        </Link>
      ) : (
        <span className="mono">{text}</span>
      )}
      {isAnonymous && <span className="dim small"> anonymous</span>}
    </>
  );
}
