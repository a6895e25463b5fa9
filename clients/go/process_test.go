package millrace

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const endingVariable = "MILLRACE_TEST_ENDING"

// TestMain lets the test binary also be the program whose end is tested.
func TestMain(m *testing.M) {
	if ending := os.Getenv(endingVariable); ending != "" {
		endProcess(ending)
		return
	}
	os.Exit(m.Run())
}

// endProcess is a program as the README advises to write it: Close runs at every end.
func endProcess(ending string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	client := New("k")
	client.Endpoint = os.Args[len(os.Args)-1]
	defer client.Close()
	for range 25 {
		if err := client.Track(&Track{UserId: "u", Event: "E"}); err != nil {
			panic(err)
		}
	}
	fmt.Println("called")
	switch ending {
	case "panic":
		panic("an error nobody expected")
	case "SIGTERM":
		<-ctx.Done()
	case "busy":
		runtime.GOMAXPROCS(1)
		for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		}
	}
}

func TestHoweverAProgramEndsItsCallsAreSent(t *testing.T) {
	for ending, code := range map[string]int{"return": 0, "panic": 2, "SIGTERM": 0, "busy": 0} {
		t.Run(ending, func(t *testing.T) {
			seen := newRecorder()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = seen.RoundTrip(r)
			}))
			defer server.Close()
			program := exec.Command(os.Args[0], server.URL)
			program.Env = append(os.Environ(), endingVariable+"="+ending)
			runProgram(t, program, ending)
			if got := program.ProcessState.ExitCode(); got != code {
				t.Errorf("ended with %d", got)
			}
			calls := 0
			for _, request := range seen.requests() {
				calls += len(request.calls)
			}
			if calls != 25 {
				t.Errorf("%d of 25 calls were sent", calls)
			}
		})
	}
}

func runProgram(t *testing.T, program *exec.Cmd, ending string) {
	t.Helper()
	output, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(output).ReadString('\n'); !strings.HasPrefix(line, "called") {
		t.Errorf("said %q", line)
	}
	if ending == "SIGTERM" {
		_ = program.Process.Signal(syscall.SIGTERM)
	}
	_ = program.Wait()
}
