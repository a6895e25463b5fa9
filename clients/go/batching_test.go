package millrace

import (
	"math/rand/v2"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTwentyCallsAreSentAtOnceNineteenAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRecorder()
		client, _ := newTestClient(server)
		defer client.Close()
		track(t, client, 19)
		synctest.Wait()
		if n := len(server.requests()); n != 0 {
			t.Fatalf("%d requests for 19 calls", n)
		}
		track(t, client, 1)
		synctest.Wait()
		if got := server.requests(); len(got) != 1 || len(got[0].calls) != 20 {
			t.Fatalf("%d requests for 20 calls", len(got))
		}
	})
}

func TestFiveSecondsAfterTheLastFlushWhatIsQueuedIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRecorder()
		client, _ := newTestClient(server)
		defer client.Close()
		at := func(length time.Duration, requests int) {
			t.Helper()
			time.Sleep(length)
			synctest.Wait()
			if n := len(server.requests()); n != requests {
				t.Fatalf("%d requests, expected %d", n, requests)
			}
		}
		track(t, client, 1)
		at(4999*time.Millisecond, 0)
		at(time.Millisecond, 1)
		at(2*time.Second, 1)
		track(t, client, 1)
		at(2999*time.Millisecond, 1)
		at(time.Millisecond, 2) // 5 s after the last flush, 3 s after the call.
		at(12*time.Second, 2)
		track(t, client, 1)
		at(2999*time.Millisecond, 2)
		at(time.Millisecond, 3) // A flush of nothing, 10 s after the last one, counts too.
	})
}

func TestSettingsOfOneSendEachCallByItself(t *testing.T) {
	set := map[string]func(*Client){
		"FlushAt 1":            func(c *Client) { c.FlushAt = 1 },
		"Size 1":               func(c *Client) { c.Size = 1 },
		"FlushAt 1 wins":       func(c *Client) { c.FlushAt, c.Size = 1, 50 },
		"Interval is nothing":  func(c *Client) { c.FlushAt, c.Interval = 1, time.Hour },
		"FlushAfter is longer": func(c *Client) { c.FlushAt, c.FlushAfter = 1, time.Hour },
	}
	for name, change := range set {
		synctest.Test(t, func(t *testing.T) {
			server := newRecorder()
			client, _ := newTestClient(server)
			defer client.Close()
			change(client)
			track(t, client, 3)
			synctest.Wait()
			if n := len(server.requests()); n != 3 {
				t.Errorf("%s: %d requests for 3 calls", name, n)
			}
		})
	}
}

func TestSizeAndIntervalAreTheOlderNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRecorder()
		client, _ := newTestClient(server)
		defer client.Close()
		client.Size, client.Interval = 2, time.Minute
		track(t, client, 2)
		synctest.Wait()
		track(t, client, 1)
		synctest.Wait()
		if n := len(server.requests()); n != 1 {
			t.Fatalf("%d requests for 3 calls", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(server.requests()); n != 2 {
			t.Fatalf("%d requests after a minute", n)
		}
	})
}

// Texts whose bytes, characters and escapes differ; others measured the letter i wrongly.
var textsOfAllSizes = []string{"i", "é", "✓", "😀", "👩‍👩‍👧", `"`, "\x00", "\xff", "%20", "\u2028", "x"}

func TestHoweverCallsAreSizedTheirBatchesKeepTheLimitsAndTheirOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 2))
	for range full(5, 50) {
		server := newRecorder()
		client, told := newTestClient(server)
		client.MaxQueueCalls = 10_000
		client.FlushAt = 1 + random.IntN(3000)
		calls, largest := 1+random.IntN(full(400, 4000)), 1+random.IntN(33_000)
		accepted := 0
		for range calls {
			text := textsOfAllSizes[random.IntN(len(textsOfAllSizes))]
			text = strings.Repeat(text, random.IntN(1+largest/len(text)))
			err := client.Track(&Track{UserId: "u1", Event: "E", MessageId: strconv.Itoa(accepted), Properties: map[string]interface{}{"t": text}})
			if err == nil {
				accepted++
			} else if err != error(errCallTooLarge) {
				t.Fatal(err)
			}
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		assertBatches(t, server.requests(), accepted)
		told.assertAllEnded(t, client, accepted)
	}
}

func assertBatches(t *testing.T, requests []recorded, calls int) {
	t.Helper()
	next := 0
	for _, request := range requests {
		if len(request.body) > MaxBatchBytes || len(request.calls) > MaxBatchCalls || len(request.calls) == 0 {
			t.Fatalf("a request of %d bytes, %d calls", len(request.body), len(request.calls))
		}
		for _, call := range request.calls {
			if call.MessageId != strconv.Itoa(next) {
				t.Fatalf("call %s where %d was next", call.MessageId, next)
			}
			next++
		}
	}
	if next != calls {
		t.Fatalf("%d of %d calls", next, calls)
	}
}

func TestACallIsMeasuredInTheBytesThatAreSent(t *testing.T) {
	for _, text := range textsOfAllSizes {
		client := New("k")
		size := func(n int) (int, error) {
			queued, err := client.encode(&Track{UserId: "u", Event: "E", Properties: map[string]interface{}{"t": strings.Repeat(text, n)}}, time.Now())
			return len(queued.body), err
		}
		one, _ := size(1)
		two, _ := size(2)
		most := 1 + (MaxCallBytes-one)/(two-one)
		if bytes, err := size(most); err != nil || bytes > MaxCallBytes {
			t.Errorf("%q %d times: %d bytes, %v", text, most, bytes, err)
		}
		if _, err := size(most + 1); err != error(errCallTooLarge) {
			t.Errorf("%q %d times: %v", text, most+1, err)
		}
	}
}

func TestNothingRunsBeforeTheFirstCallNorAfterClose(t *testing.T) {
	// Those of earlier tests may still be ending, so there may be fewer later on.
	before := runtime.NumGoroutine()
	client, _ := newTestClient(newRecorder())
	if after := runtime.NumGoroutine(); after > before {
		t.Fatalf("%d goroutines before New, %d after", before, after)
	}
	if counts := mustFlush(t, client); counts != (Counts{}) || runtime.NumGoroutine() > before {
		t.Fatal("a flush of nothing did something")
	}
	track(t, client, 1)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := client.Track(&Track{UserId: "u", Event: "E"}); err != ErrClosed {
		t.Fatal(err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d goroutines before, %d after Close", before, runtime.NumGoroutine())
}

func TestABacklogIsSentInFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRecorder()
		server.answer = func(int, recorded) (*http.Response, error) {
			time.Sleep(time.Second)
			return status(200, ""), nil
		}
		client, _ := newTestClient(server)
		track(t, client, 20)
		synctest.Wait()
		track(t, client, 1000)
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		if n := len(server.requests()); n != 2 {
			t.Fatalf("%d requests", n)
		}
	})
}
