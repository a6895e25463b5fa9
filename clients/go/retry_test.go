package millrace

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatIsTriedAgainAndWhatIsNot(t *testing.T) {
	again := map[int]bool{408: true, 429: true, 500: true, 501: true, 502: true, 503: true, 504: true, 599: true}
	for _, code := range []int{200, 202, 301, 307, 400, 401, 403, 404, 408, 410, 413, 422, 429, 500, 501, 502, 503, 504, 599} {
		synctest.Test(t, func(t *testing.T) {
			server := newRecorder()
			server.answer = func(int, recorded) (*http.Response, error) {
				return status(code, `{"code":"some_code","message":"Some message."}`), nil
			}
			client, told := newTestClient(server)
			// One fewer than would be sent at once: Close sends them, and so reports them.
			track(t, client, 19)
			err := client.Close()
			tries := 1
			if again[code] {
				tries = 10
			}
			if n := len(server.requests()); n != tries {
				t.Errorf("%d: %d tries, expected %d", code, n, tries)
			}
			told.assertAllEnded(t, client, 19)
			isSent := code < 300
			if (told.read().Sent == 19) != isSent || (err == nil) != isSent {
				t.Errorf("%d: %+v, %v", code, told.read(), err)
			}
			if isSent {
				return
			}
			var failed *SendError
			if !errors.As(told.errs[0], &failed) || failed.Status != code || failed.Code != "some_code" || failed.Tries != tries {
				t.Errorf("%d: %+v", code, failed)
			}
			assertSameRequests(t, server.requests())
		})
	}
}

// assertSameRequests: the server recognises a retry by its bytes.
func assertSameRequests(t *testing.T, requests []recorded) {
	t.Helper()
	for i, request := range requests {
		if !bytes.Equal(request.raw, requests[0].raw) {
			t.Errorf("try %d has other bytes than the first", i+1)
		}
		want := ""
		if i > 0 {
			want = strconv.Itoa(i)
		}
		if got := request.header.Get("X-Retry-Count"); got != want {
			t.Errorf("X-Retry-Count of try %d is %q", i+1, got)
		}
	}
}

func TestTheWaitGrowsAndIsNeverTheSameForAll(t *testing.T) {
	for try, length := range map[int]time.Duration{1: 200, 2: 400, 3: 800, 8: 25_600, 9: 30_000, 60: 30_000} {
		length *= time.Millisecond
		if got := (&answer{}).wait(try, firstBackoff, 0); got != length/2 {
			t.Errorf("the shortest wait after try %d is %s", try, got)
		}
		if got := (&answer{}).wait(try, firstBackoff, 1); got != length {
			t.Errorf("the longest wait after try %d is %s", try, got)
		}
	}
}

func TestTheServersWishToWaitIsKept(t *testing.T) {
	for _, each := range []struct {
		status   int
		header   string
		wait     time.Duration
		isExact  bool
		whenDone string
	}{
		{429, "7", 7 * time.Second, true, "seconds"},
		{503, "3", 3 * time.Second, true, "seconds on 503"},
		{500, "2", 2 * time.Second, true, "seconds on 500"},
		{429, "86400", maxRetryAfter, true, "a day is too long"},
		{429, "0", firstBackoff / 2, false, "zero"},
		{429, "-5", firstBackoff / 2, false, "negative"},
		{429, "soon", firstBackoff / 2, false, "no number"},
		{429, "Sat, 01 Jan 2000 00:00:09 GMT", 9 * time.Second, true, "a date"},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := newRecorder()
			server.answer = func(n int, _ recorded) (*http.Response, error) {
				if n == 1 {
					return status(each.status, "", "Retry-After", each.header), nil
				}
				return status(200, ""), nil
			}
			client, _ := newTestClient(server)
			track(t, client, 1)
			start := time.Now()
			if err := client.Close(); err != nil {
				t.Fatal(err)
			}
			waited := time.Since(start)
			if (each.isExact && waited != each.wait) || waited < each.wait {
				t.Errorf("%s: waited %s, asked for %s", each.whenDone, waited, each.wait)
			}
		})
	}
}

func TestCallsTheServerRefusesFailWithTheirOwnCodes(t *testing.T) {
	rejected := `"rejected":[{"index":1,"messageId":"m","code":"event_not_defined","message":"No event."},{"index":99,"code":"x"},{"index":-1,"code":"x"}]`
	for code, want := range map[int]Counts{200: {Sent: 2, Failed: 1}, 400: {Failed: 3}} {
		server := newRecorder()
		server.answer = func(int, recorded) (*http.Response, error) {
			return status(code, `{"success":true,"accepted":2,"code":"of_all",`+rejected+`}`), nil
		}
		client, told := newTestClient(server)
		track(t, client, 3)
		if counts := mustFlush(t, client); counts != want {
			t.Errorf("%d: %+v", code, counts)
		}
		told.assertAllEnded(t, client, 3)
		codes := map[string]int{}
		for _, err := range told.errs {
			codes[err.(*SendError).Code]++
		}
		if codes["event_not_defined"] != 1 || codes["of_all"] != want.Failed-1 {
			t.Errorf("%d: %v", code, codes)
		}
	}
}

func TestAServerThatHangsCostsOneTimeoutATry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, told := newTestClient(hanging{})
		client.MaxTries, client.Timeout = 3, time.Second
		client.jitter = func() float64 { return 1 }
		track(t, client, 1)
		start := time.Now()
		if err := client.Close(); err == nil {
			t.Error("closed without an error")
		}
		if waited := time.Since(start); waited != 3*time.Second+600*time.Millisecond {
			t.Errorf("took %s", waited)
		}
		told.assertAllEnded(t, client, 1)
		if !errors.Is(told.errs[0], errTimeout) {
			t.Error(told.errs[0])
		}
	})
}

type hanging struct{}

func (hanging) RoundTrip(request *http.Request) (*http.Response, error) {
	<-request.Context().Done()
	return nil, request.Context().Err()
}

func TestClosingWithinATimeFailsWhatHasNoAnswer(t *testing.T) {
	for name, transport := range map[string]http.RoundTripper{"hanging": hanging{}, "down": failing{}} {
		synctest.Test(t, func(t *testing.T) {
			client, told := newTestClient(transport)
			track(t, client, 5000)
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			start := time.Now()
			err := client.CloseContext(ctx)
			if waited := time.Since(start); err == nil || waited != 2*time.Second {
				t.Errorf("%s: closed after %s: %v", name, waited, err)
			}
			told.assertAllEnded(t, client, 5000)
			if !errors.Is(told.errs[0], context.DeadlineExceeded) {
				t.Error(told.errs[0])
			}
			if again := client.Close(); again == nil || again.Error() != err.Error() {
				t.Errorf("closed again: %v", again)
			}
		})
	}
}

type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("connection refused")
}
