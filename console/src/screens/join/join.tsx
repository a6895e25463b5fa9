export function Join() {
  return <main className="page">To be made.</main>;
}
