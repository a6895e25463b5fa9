import { Link } from '@tanstack/react-router';

export function NotFound() {
  return (
    <main className="page">
      <div className="empty">
        <h1>There is no such page.</h1>
        <p>The address may be of an older console, or it was cut when it was copied.</p>
        <Link to="/">Home</Link>
      </div>
    </main>
  );
}
