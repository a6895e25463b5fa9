export function FirstRun() {
  return <main className="page">To be made.</main>;
}
