// Command flood says what a flood of calls at the endpoints of a devnet does to a quote of its service. It runs the
// program that it is given as `coffer devnet`, asks for quotes one after the other, first alone and then beside so many
// calls a second of another process, which leaves the processors to the devnet, and prints the p50 and the p99 of both.
// It exits 1 when the p99 is more than -times that of the quiet time, or when anything failed.
//
//	go run ./.ci/flood -program ./coffer
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/crash/traffic"
)

type options struct {
	program, calls    string
	rate, connections int
	duration          time.Duration
	times             float64
}

func main() {
	var o options
	flag.StringVar(&o.program, "program", "", "the program to run as coffer devnet")
	flag.IntVar(&o.rate, "rate", 10_000, "calls a second")
	flag.IntVar(&o.connections, "connections", 64, "connections that the calls come over")
	flag.DurationVar(&o.duration, "duration", 10*time.Second, "length of the quiet time, and of the flood")
	flag.Float64Var(&o.times, "times", 2, "how much longer the p99 of a quote may be")
	flag.StringVar(&o.calls, "calls", "", "only call this endpoint, host:port/path, and print how often")
	flag.Parse()
	work := run
	if o.calls != "" {
		work = calls
	}
	if err := work(context.Background(), o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stdout, "flood:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	cmd := exec.CommandContext(ctx, o.program, "devnet", "--listen", "127.0.0.1:0", "--json") //nolint:gosec // ours
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmd.Process.Signal(os.Interrupt), cmd.Wait()) }()
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		return err
	}
	ask, err := quoter(ctx, line)
	if err != nil {
		return err
	}
	if _, _, err := measure(o.duration/4, ask); err != nil { // until everything is warm
		return err
	}
	p50, quiet, err := measure(o.duration, ask)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "quiet    p50 %s  p99 %s\n", p50, quiet)
	made := make(chan string, 1)
	go func() { made <- callers(ctx, line, o) }()
	time.Sleep(o.duration / 20)
	p50, flooded, err := measure(o.duration, ask)
	fmt.Fprintf(out, "flooded  p50 %s  p99 %s  by %s", p50, flooded, <-made)
	if err == nil && float64(flooded) > o.times*float64(quiet) {
		err = fmt.Errorf("the p99 of a quote is %.1f times that of the quiet time", float64(flooded)/float64(quiet))
	}
	return err
}

// quoter asks for one quote of a funded person.
func quoter(ctx context.Context, line []byte) (func() error, error) {
	c, at, err := traffic.Connect(line, 1)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(at.NetworkFile)
	if err != nil {
		return nil, err
	}
	d, err := network.Decode(raw)
	if err != nil {
		return nil, err
	}
	p, err := traffic.NewPerson(d.Pins, api.AccountKernelV31, 1, 1)
	if err != nil {
		return nil, err
	}
	if _, err := p.Holdings(ctx, c, traffic.Paying); err != nil { // which brings the test funds
		return nil, err
	}
	to := caip.EVMAccount(8453, p.Address)
	body, err := api.Encode(api.QuoteRequest{
		From: api.QuoteFrom{Accounts: p.Accounts(), Asset: api.AssetRef{AssetID: traffic.Paying}, Amount: "50000000"},
		To:   api.QuoteTo{Asset: api.AssetRef{AssetID: "ob:eth"}, Account: to.String()},
	})
	return func() error {
		_, err := c.Post(ctx, "/v3/quote", body)
		return err
	}, err
}

// measure asks one after the other for so long.
func measure(d time.Duration, ask func() error) (p50, p99 time.Duration, err error) {
	var took []time.Duration
	for end := time.Now().Add(d); time.Now().Before(end); {
		start := time.Now()
		if err := ask(); err != nil {
			return 0, 0, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2].Round(time.Microsecond), took[len(took)*99/100].Round(time.Microsecond), nil
}

// flood calls until it is ended.
type flood struct {
	calls, refused atomic.Int64
	stop           chan struct{}
	all            sync.WaitGroup
	mu             sync.Mutex
	err            error
}

// bodies are the calls: two that read a value and one that runs a contract.
func bodies() []string {
	return []string{
		`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}`,
		`{"jsonrpc":"2.0","id":1,"method":"eth_getBalance",` +
			`"params":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","latest"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{` +
			`"to":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","data":` +
			`"0x70a08231000000000000000000000000f39fd6e51aad88f6f4ce6ab8827279cfffb92266"},"latest"]}`,
	}
}

// callers floods an endpoint from another process, one that leaves the processors to the devnet as callers on another
// machine do, and returns what that says.
func callers(ctx context.Context, line []byte, o options) string {
	var at struct {
		Endpoints []struct {
			ID   uint64 `json:"id"`
			HTTP string `json:"http"`
		} `json:"endpoints"`
	}
	own, err := os.Executable()
	if err = errors.Join(err, json.Unmarshal(line, &at)); err != nil {
		return err.Error()
	}
	for _, e := range at.Endpoints {
		if e.ID != 8453 {
			continue
		}
		said, err := exec.CommandContext(ctx, "nice", "-n", "19", own, //nolint:gosec // ourselves
			"-calls", strings.TrimPrefix(e.HTTP, "http://"), "-rate", strconv.Itoa(o.rate),
			"-connections", strconv.Itoa(o.connections),
			"-duration", (o.duration + o.duration/10).String()).CombinedOutput()
		if err != nil {
			return "nothing: " + err.Error() + ": " + string(said)
		}
		return string(said)
	}
	return "there is no endpoint of Base"
}

// calls floods an endpoint and says how often it called.
func calls(_ context.Context, o options, out io.Writer) error {
	f := &flood{stop: make(chan struct{})}
	each := time.Duration(o.connections) * time.Second / time.Duration(o.rate)
	for i := range o.connections {
		f.all.Go(func() { f.fail(f.over(o.calls, i, each)) })
	}
	time.Sleep(o.duration)
	n, refused, err := f.end()
	fmt.Fprintf(out, "%.0f calls a second, %d refused\n", float64(n)/o.duration.Seconds(), refused)
	return err
}

// over calls over one connection, every so often.
func (f *flood) over(url string, n int, each time.Duration) error {
	host, path, _ := strings.Cut(url, "/")
	c, err := net.Dial("tcp", host) //nolint:noctx // it ends with its connection
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	r := textproto.NewReader(bufio.NewReader(c))
	tick := time.NewTicker(each)
	defer tick.Stop()
	for {
		body := bodies()[n%len(bodies())]
		n++
		select {
		case <-f.stop:
			return nil
		case <-tick.C:
		}
		if _, err := fmt.Fprintf(c, "POST /%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\n\r\n%s", path, host, len(body), body); err != nil {
			return err
		}
		answer, err := read(r)
		if err != nil {
			return err
		}
		if f.calls.Add(1); !bytes.Contains(answer, []byte(`"result"`)) {
			f.refused.Add(1)
		}
	}
}

// read reads an HTTP answer.
func read(r *textproto.Reader) ([]byte, error) {
	if _, err := r.ReadLine(); err != nil {
		return nil, err
	}
	head, err := r.ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(head.Get("Content-Length"))
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	_, err = io.ReadFull(r.R, body)
	return body, err
}

func (f *flood) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = errors.Join(f.err, err)
}

func (f *flood) end() (calls, refused int64, err error) {
	close(f.stop)
	f.all.Wait()
	return f.calls.Load(), f.refused.Load(), f.err
}
