export function SetUp() {
  return <main className="page">To be made.</main>;
}
