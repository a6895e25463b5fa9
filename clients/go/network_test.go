package millrace

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// newSocketClient is impatient, so that each way a server can fail takes milliseconds.
func newSocketClient(t *testing.T, endpoint string) (*Client, *outcomes) {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	client, told := newTestClient(transport)
	client.Endpoint = endpoint
	client.MaxTries, client.Timeout, client.backoff = 3, 100*time.Millisecond, time.Millisecond
	return client, told
}

func TestHoweverTheServerFailsEveryCallIsAccountedFor(t *testing.T) {
	reset := func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = connection.(*net.TCPConn).SetLinger(0)
			_ = connection.Close()
		}
	}
	ways := map[string]http.HandlerFunc{
		"resetting": reset,
		"hanging":   func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"slow": func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(30 * time.Millisecond)
			w.WriteHeader(200)
		},
		"never ending its answer": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"cutting its answer off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		},
		"sometimes resetting": func(w http.ResponseWriter, r *http.Request) {
			if rand.IntN(3) == 0 {
				reset(w, r)
			}
		},
		"answering nonsense": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				// A server that does not read the request does not learn when its client leaves.
				_, _ = io.Copy(io.Discard, r.Body)
				way(w, r)
			}))
			defer server.Close()
			assertAccounted(t, server.URL)
		})
	}
	t.Run("down", func(t *testing.T) { assertAccounted(t, deadAddress) })
}

func assertAccounted(t *testing.T, endpoint string) {
	t.Helper()
	client, told := newSocketClient(t, endpoint)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			track(t, client, 25)
			mustFlush(t, client)
		})
	}
	wait.Wait()
	err := client.Close()
	told.assertAllEnded(t, client, 100)
	if err != nil {
		t.Error("all was flushed, so closing has nothing to report: ", err)
	}
}

// Nothing listens there, and no system hands out its port.
const deadAddress = "http://127.0.0.1:1"

// freeAddress has a port below the ephemeral ones: it is still free when it is used again.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		address := "127.0.0.1:" + strconv.Itoa(12_000+rand.IntN(20_000))
		if listener, err := net.Listen("tcp", address); err == nil {
			_ = listener.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// mortal is a server that is killed and restarted at random, also between storing and answering. It keeps what it was
// sent, and like the real one it recognises a request it has stored before.
type mortal struct {
	mu      sync.Mutex
	stored  map[string]bool
	seen    map[string]bool
	repeats int
	kills   int
}

func (m *mortal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	time.Sleep(4 * time.Millisecond)
	m.store(inflated(raw, r.Header))
	if rand.IntN(20) == 0 {
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, `{"success":true}`)
}

func (m *mortal) store(body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[string(body)] {
		m.repeats++
		return
	}
	m.seen[string(body)] = true
	var batch struct{ Batch []sentCall }
	_ = json.Unmarshal(body, &batch)
	for _, call := range batch.Batch {
		if m.stored[call.MessageId] {
			panic("the same call in two different requests")
		}
		m.stored[call.MessageId] = true
	}
}

// live starts and kills the server until the context ends, always at one address.
func (m *mortal) live(ctx context.Context, address string) {
	for ctx.Err() == nil {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		server := &http.Server{Handler: m}
		go func() { _ = server.Serve(listener) }()
		sleep(ctx, time.Duration(50+rand.IntN(150))*time.Millisecond)
		_ = server.Close()
		m.mu.Lock()
		m.kills++
		m.mu.Unlock()
		sleep(ctx, time.Duration(rand.IntN(30))*time.Millisecond)
	}
}

func TestThroughAServerKilledAndRestartedEveryCallIsStoredOnce(t *testing.T) {
	calls := full(2000, 10_000)
	server := &mortal{stored: map[string]bool{}, seen: map[string]bool{}}
	address := freeAddress(t)
	ctx, stop := context.WithCancel(context.Background())
	var lives sync.WaitGroup
	lives.Go(func() { server.live(ctx, address) })
	client, told := newSocketClient(t, "http://"+address)
	client.MaxTries, client.Timeout, client.backoff = 0, time.Second, 5*time.Millisecond
	client.MaxQueueCalls, client.WhenFull = 60, Block
	for i := range calls {
		if err := client.Track(&Track{UserId: "u", Event: "E", MessageId: strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	stop()
	lives.Wait()
	told.assertAllEnded(t, client, calls)
	if told.read().Sent != calls || len(server.stored) != calls {
		t.Errorf("%+v, %d stored", told.read(), len(server.stored))
	}
	t.Logf("%d calls through %d kills, %d requests recognised when they came again", calls, server.kills, server.repeats)
}

func TestMemoryStaysFlatAgainstADeadServer(t *testing.T) {
	calls := full(100_000, 1_000_000)
	client, _ := newSocketClient(t, deadAddress)
	var dropped, failed atomic.Int64
	client.OnSent, client.OnFailed = nil, func(Report) { failed.Add(1) }
	client.OnDropped = func(Report) { dropped.Add(1) }
	client.MaxTries, client.backoff = 0, 100*time.Millisecond
	call := &Track{UserId: "u", Event: "E", Properties: map[string]interface{}{"text": "some text of a usual length", "n": 12.5}}
	var early, most uint64
	for i := range calls {
		if err := client.Track(call); err != nil && err != ErrQueueFull {
			t.Fatal(err)
		}
		if i%10_000 == 9_999 {
			bytes := heapBytes()
			if early == 0 && i > 15_000 {
				early = bytes
			}
			most = max(most, bytes)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := client.CloseContext(ctx); err == nil {
		t.Error("closed without an error")
	}
	if most > early+4<<20 {
		t.Errorf("from %d bytes with a full queue to %d", early, most)
	}
	if sum := dropped.Load() + failed.Load(); sum != int64(calls) || client.Counts() != (Counts{Failed: int(failed.Load()), Dropped: int(dropped.Load())}) {
		t.Errorf("%d of %d calls accounted for, counted %+v", sum, calls, client.Counts())
	}
	t.Logf("%d calls: %d bytes of heap with a full queue, %d at most, %d at the end", calls, early, most, heapBytes())
}

func heapBytes() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
