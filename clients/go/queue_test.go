package millrace

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// held is a network that answers nothing until it is opened.
func held() (*recorder, chan struct{}) {
	server, open := newRecorder(), make(chan struct{})
	server.answer = func(int, recorded) (*http.Response, error) {
		<-open
		return status(200, ""), nil
	}
	return server, open
}

func TestAFullQueueDropsTheNewestByDefaultAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, open := held()
		client, told := newTestClient(server)
		client.MaxQueueCalls, client.FlushAt = 30, 20
		errs := 0
		for i := range 50 {
			err := client.Track(&Track{UserId: "u", Event: "E", MessageId: strconv.Itoa(i)})
			if err != nil && err != ErrQueueFull {
				t.Fatal(err)
			}
			if err != nil {
				errs++
			}
			synctest.Wait()
		}
		close(open)
		if err := client.Close(); err != nil || errs != 20 {
			t.Fatal(err, errs)
		}
		told.assertAllEnded(t, client, 50)
		if told.read() != (Counts{Sent: 30, Dropped: 20}) || told.ends["29"] != 1 || told.errs[0] != ErrQueueFull {
			t.Errorf("%+v", told.read())
		}
		assertBatches(t, server.requests(), 30)
	})
}

func TestAFullQueueCanDropTheOldestButNotWhatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, open := held()
		client, told := newTestClient(server)
		client.MaxQueueCalls, client.FlushAt, client.WhenFull = 30, 20, DropOldest
		for i := range 50 {
			if err := client.Track(&Track{UserId: "u", Event: "E", MessageId: strconv.Itoa(i)}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		close(open)
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		told.assertAllEnded(t, client, 50)
		sent := map[string]bool{}
		for _, request := range server.requests() {
			for _, call := range request.calls {
				sent[call.MessageId] = true
			}
		}
		if len(sent) != 30 || !sent["19"] || sent["20"] || sent["39"] || !sent["40"] || !sent["49"] {
			t.Errorf("sent %v", sent)
		}
	})
}

func TestAFullQueueCanMakeTheCallerWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, open := held()
		client, told := newTestClient(server)
		client.MaxQueueCalls, client.FlushAt, client.WhenFull = 30, 20, Block
		var made atomic.Int32
		go func() {
			for range 50 {
				track(t, client, 1)
				made.Add(1)
			}
		}()
		synctest.Wait()
		if made.Load() != 30 {
			t.Fatalf("%d calls in a queue of 30", made.Load())
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := client.Enqueue(ctx, &Page{UserId: "u"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		close(open)
		synctest.Wait()
		if err := client.Close(); err != nil || made.Load() != 50 {
			t.Fatal(err, made.Load())
		}
		told.assertAllEnded(t, client, 50)
	})
}

func TestClosingEndsTheWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, told := newTestClient(hanging{})
		client.MaxQueueCalls, client.FlushAt, client.WhenFull = 1, 1, Block
		track(t, client, 1)
		go func() {
			time.Sleep(time.Second)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_ = client.CloseContext(ctx)
		}()
		if err := client.Track(&Track{UserId: "u", Event: "E"}); err != ErrClosed {
			t.Fatal(err)
		}
		_ = client.Close()
		told.assertAllEnded(t, client, 1)
	})
}

func TestTheQueueIsBoundedInBytesUnderEveryPolicy(t *testing.T) {
	for _, policy := range []WhenFull{DropNewest, DropOldest, Block} {
		synctest.Test(t, func(t *testing.T) {
			server, open := held()
			client, told := newTestClient(server)
			client.MaxQueueBytes, client.WhenFull = 20_000, policy
			large := func(n int) *Track {
				return &Track{UserId: "u", Event: "E", Properties: map[string]interface{}{"t": strings.Repeat("é", n)}}
			}
			var wait sync.WaitGroup
			for range 20 {
				wait.Go(func() { _ = client.Track(large(1000)) })
			}
			// A call that can never fit is not waited for.
			if err := client.Track(large(12_000)); err != ErrQueueFull {
				t.Error(err)
			}
			synctest.Wait()
			if client.queue.heldBytes > 20_000 {
				t.Errorf("%d bytes held", client.queue.heldBytes)
			}
			close(open)
			wait.Wait()
			if err := client.Close(); err != nil {
				t.Error(err)
			}
			told.assertAllEnded(t, client, 21)
		})
	}
}

func TestAHundredFlushesAndClosesAtOnceEachWaitForTheirOwnCalls(t *testing.T) {
	server := newRecorder()
	server.answer = func(n int, _ recorded) (*http.Response, error) {
		time.Sleep(time.Duration(n%3) * time.Millisecond)
		if n%5 == 0 {
			return status(503, ""), nil
		}
		return status(200, ""), nil
	}
	client, told := newTestClient(server)
	client.backoff = time.Millisecond
	var made, waiting atomic.Int32
	var wait sync.WaitGroup
	for place := range 100 {
		waiting.Add(1)
		wait.Go(func() {
			ids := make([]string, 0, 10)
			for i := range 10 {
				id := strconv.Itoa(place) + "-" + strconv.Itoa(i)
				err := client.Track(&Track{UserId: "u", Event: "E", MessageId: id})
				if err == nil {
					made.Add(1)
					ids = append(ids, id)
				} else if err != ErrClosed {
					t.Error(err)
				}
			}
			waiting.Add(-1)
			if place%10 == 9 {
				for waiting.Load() > 20 {
					time.Sleep(time.Millisecond)
				}
				if err := client.Close(); err != nil {
					t.Error(err)
				}
			} else if _, err := client.Flush(context.Background()); err != nil {
				t.Error(err)
			}
			told.mu.Lock()
			defer told.mu.Unlock()
			for _, id := range ids {
				if told.ends[id] != 1 {
					t.Errorf("%s has no answer though its flush returned", id)
				}
			}
		})
	}
	wait.Wait()
	told.assertAllEnded(t, client, int(made.Load()))
}

func TestAFlushCountsTheCallsItWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, open := held()
		client, _ := newTestClient(server)
		track(t, client, 3)
		first := make(chan Counts)
		go func() { first <- mustFlush(t, client) }()
		synctest.Wait()
		track(t, client, 2)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if counts, err := client.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) || counts != (Counts{}) {
			t.Error(counts, err)
		}
		close(open)
		if counts := <-first; counts != (Counts{Sent: 3}) {
			t.Errorf("%+v", counts)
		}
		if err := client.Close(); err != nil || client.Counts() != (Counts{Sent: 5}) {
			t.Error(err, client.Counts())
		}
	})
}
