// Measures the CPU of a Track call, up to the socket: this library, analytics-go v3 and a bare twin take turns
// in one process, so that a busy machine is as busy for each. `go run .` ends with one line of JSON; the exit code says
// whether this library costs at most what analytics-go v3 does. The receiver is another process and is not counted.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// batch is how many calls go into a request, for every contender.
const batch = 20

// contender is a library that was given a transport; track makes one call.
type contender struct {
	name  string
	track func()
	close func()
	gate  *gate
}

func main() {
	rounds := flag.Int("rounds", 15, "how often each contender has its turn")
	requests := flag.Int("requests", 500, "how many requests of 20 calls a turn has")
	receiving := flag.Bool("receive", false, "be the receiver")
	flag.Parse()
	if *receiving {
		receive()
		return
	}
	url, stop := startReceiver()
	defer stop()
	contenders := []*contender{newMillrace(url), newSegment(url), newTwin(url)}
	taken := map[string][]turn{}
	for round := range *rounds + 1 {
		for i := range contenders {
			each := contenders[(i+round)%len(contenders)]
			result := take(each, *requests)
			// The first round fills pools and opens connections.
			if round > 0 {
				taken[each.name] = append(taken[each.name], result)
			}
		}
	}
	for _, each := range contenders {
		each.close()
	}
	os.Exit(report(taken))
}

// turn is what one turn cost, in microseconds a call.
type turn struct {
	cpu    float64
	caller float64
}

// take makes one request's calls at a time: a contender that falls behind must not look cheap because its requests grow.
func take(c *contender, requests int) turn {
	runtime.GC()
	inCalls := time.Duration(0)
	before := cpuTime()
	for range requests {
		start := time.Now()
		for range batch {
			c.track()
		}
		inCalls += time.Since(start)
		c.gate.pass()
	}
	calls := float64(requests * batch)
	return turn{
		cpu:    float64((cpuTime() - before).Nanoseconds()) / 1000 / calls,
		caller: float64(inCalls.Nanoseconds()) / 1000 / calls,
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func report(taken map[string][]turn) (exitCode int) {
	figures := map[string]any{"bench": "clients-go", "rounds": len(taken["millrace"]), "go": runtime.Version()}
	for name, turns := range taken {
		figures[name] = map[string]any{
			"cpuUsPerCall":    spread(turns, func(_ int, t turn) float64 { return t.cpu }),
			"callerUsPerCall": spread(turns, func(_ int, t turn) float64 { return t.caller }),
		}
	}
	ratioTo := func(name string) [3]float64 {
		return spread(taken["millrace"], func(i int, t turn) float64 { return t.cpu / taken[name][i].cpu })
	}
	ratio := ratioTo("analytics-go v3")
	figures["ratioToV3"] = ratio
	figures["ratioToTwin"] = ratioTo("twin")
	line, err := json.Marshal(figures)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
	if ratio[1] > 1 {
		return 1
	}
	return 0
}

// spread is the lowest, the median and the highest value.
func spread(turns []turn, value func(int, turn) float64) [3]float64 {
	values := make([]float64, len(turns))
	for i, each := range turns {
		values[i] = value(i, each)
	}
	slices.Sort(values)
	rounded := func(v float64) float64 { return float64(int(v*100+0.5)) / 100 }
	return [3]float64{rounded(values[0]), rounded(values[len(values)/2]), rounded(values[len(values)-1])}
}
