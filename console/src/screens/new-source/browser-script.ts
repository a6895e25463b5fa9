/** Where a snippet sends, and as which source. */
export type Place = { url: string; writeKey: string };

/** A page without a library: a request of the simple kind needs no preflight, and `keepalive` lets it outlive the page. */
export function browserScript({ url, writeKey }: Place): string {
  return `<script>
  (function () {
    var id = localStorage.getItem('millrace-id') || 'anon-' + Math.random().toString(36).slice(2);
    localStorage.setItem('millrace-id', id);
    function send(path, call) {
      call.writeKey = '${writeKey}';
      call.anonymousId = id;
      call.context = { page: { url: location.href, title: document.title, referrer: document.referrer } };
      return fetch('${url}/v1/' + path, { method: 'POST', body: JSON.stringify(call), keepalive: true });
    }
    window.millrace = {
      page: function (name, properties) { return send('p', { name: name, properties: properties }); },
      track: function (event, properties) { return send('t', { event: event, properties: properties }); },
      identify: function (userId, traits) { return send('i', { userId: userId, traits: traits }); },
    };
    millrace.page();
  })();
</script>`;
}
