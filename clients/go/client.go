package millrace

import (
	"context"
	"log"
	"net/http"
	"sync"
	"time"
)

// WhenFull chooses which call is dropped, or that the caller waits, when the queue is full.
type WhenFull int

const (
	// DropNewest drops the call being made, whose method returns ErrQueueFull.
	DropNewest WhenFull = iota
	// DropOldest drops the calls that have waited longest, to make room.
	DropOldest
	// Block makes the caller wait until there is room; Enqueue bounds the wait by a context.
	Block
)

// Client sends calls to one source of a Millrace server. Make it with New, set its fields before the first call, and
// use it from as many goroutines as you like; later changes of the fields have no effect.
type Client struct {
	// Endpoint is the address of the server; a path in it is kept. Default: DefaultEndpoint.
	Endpoint string
	// FlushAt is how many calls are queued before a flush. Default: 20; 1 turns batching off.
	FlushAt int
	// Size is the older name of FlushAt; where both are set, FlushAt counts.
	Size int
	// FlushAfter is the time since the last flush that triggers one. Default: 5 s.
	FlushAfter time.Duration
	// Interval is the older name of FlushAfter; where both are set, FlushAfter counts.
	Interval time.Duration

	// MaxQueueCalls is how many calls may wait for their answer. Default: 10,000.
	MaxQueueCalls int
	// MaxQueueBytes is how many bytes of encoded calls may wait for their answer. Default: 32 MiB.
	MaxQueueBytes int
	// WhenFull chooses which call is dropped, or that the caller waits, when the queue is full. Default: DropNewest.
	WhenFull WhenFull

	// MaxTries is how often a batch is sent in all before its calls have failed. Default: 10.
	MaxTries int
	// Timeout bounds each try, from connecting to the end of the answer. Default: 10 s.
	Timeout time.Duration
	// Client makes the requests. Its zero value uses http.DefaultTransport; redirects are not followed unless it says
	// how, because a redirected POST arrives as a GET without its calls.
	Client http.Client

	// OnSent is told of each call the server has stored, OnFailed of each that it refused or that could not be sent,
	// OnDropped of each that found no room. They may be called from several goroutines at once and must not wait for
	// this client: no Flush, no Close, and no calls while WhenFull is Block.
	OnSent    func(Report)
	OnFailed  func(Report)
	OnDropped func(Report)

	// Logger is told of failed and dropped calls, and of everything with Verbose. Default: standard error.
	Logger *log.Logger
	// Verbose logs each step. The environment variable DEBUG=analytics does the same.
	Verbose bool

	key string

	start    sync.Once
	startErr error
	settings settings

	mu    sync.Mutex
	queue queue
	// anchor is when the last flush was.
	anchor time.Time
	// dueAt is when the oldest call in the queue will have waited long enough.
	dueAt time.Time
	// flushTo is the number of the last call that must not wait any longer.
	flushTo uint64
	flushes []*flush
	// settledNumbers is how many of the numbered calls have ended.
	settledNumbers uint64
	totals         Counts
	isRunning      bool
	isClosing      bool
	// hasRoom is closed when room is made, to wake blocked callers; nil while none is blocked.
	hasRoom chan struct{}
	// wake tells the goroutine that sends to look at the queue again.
	wake chan struct{}
	// done is closed when that goroutine has ended.
	done chan struct{}
	// last is the flush that Close makes.
	last *flush

	drops dropLog

	// life ends when the client must give up at once; it is what cancels requests and waits.
	life    context.Context
	endLife context.CancelCauseFunc

	// Tests bring their own.
	now     func() time.Time
	newId   func(buf []byte) []byte
	jitter  func() float64
	backoff time.Duration
	library string
}

// New makes a client for the source with this write key. It does nothing yet: the goroutine that sends starts with the
// first call.
func New(key string) *Client {
	return &Client{
		key: key, now: time.Now, newId: appendMessageId, jitter: randomJitter, backoff: firstBackoff, library: libraryJSON,
	}
}

// Identify queues a call that says who a user is.
func (c *Client) Identify(call *Identify) error { return c.Enqueue(context.Background(), call) }

// Track queues a call that says what a user did.
func (c *Client) Track(call *Track) error { return c.Enqueue(context.Background(), call) }

// Page queues a call that says which page a user saw.
func (c *Client) Page(call *Page) error { return c.Enqueue(context.Background(), call) }

// Screen queues a call that says which screen of an app a user saw.
func (c *Client) Screen(call *Screen) error { return c.Enqueue(context.Background(), call) }

// Group queues a call that says which group a user belongs to.
func (c *Client) Group(call *Group) error { return c.Enqueue(context.Background(), call) }

// Alias queues a call that says that two ids are one user.
func (c *Client) Alias(call *Alias) error { return c.Enqueue(context.Background(), call) }

// Counts returns how many calls were sent, failed or dropped so far; refused calls are not counted.
func (c *Client) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.totals
}
