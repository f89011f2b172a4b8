package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/crash/traffic"
)

// target is the service under load. Heap is its memory after collection in bytes, measured as how says; opening is how
// long its start took.
type target struct {
	client  *traffic.Client
	opening time.Duration
	heap    func(context.Context) (uint64, error)
	how     string
	stop    func() error
	// database is the file of the store.
	database string
}

func openService(ctx context.Context, data string) (*service.Attachment, *traffic.Client, error) {
	a, err := service.OpenOrAttach(ctx, data, service.Options{Kind: network.Lab, Fund: true})
	if err != nil {
		return nil, nil, err
	}
	if a.Attached() {
		return nil, nil, errors.Join(errors.New("another process runs the service in this directory"), a.Close())
	}
	return a, traffic.NewClient(a.BaseURL, a.APIKey, a), nil
}

// openInProcess opens the service inside this program; its heap contains that of the load.
func openInProcess(ctx context.Context, dir string, _ int) (*target, error) {
	begin := time.Now()
	a, client, err := openService(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return nil, err
	}
	opening := time.Since(begin)
	const live = "/gc/heap/live:bytes"
	heap := func(context.Context) (uint64, error) {
		runtime.GC()
		sample := []metrics.Sample{{Name: live}}
		metrics.Read(sample)
		return sample[0].Value.Uint64(), nil
	}
	return &target{client: client, opening: opening, heap: heap,
		how: "Go heap after a collection, the load's own included", stop: a.Close}, nil
}

// openServed runs `coffer serve` on the data directory and connects to it.
func openServed(ctx context.Context, dir string, workers int) (*target, error) {
	program, err := program(ctx, dir)
	if err != nil {
		return nil, err
	}
	args, metricsAt, err := arguments(ctx, program, dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...) //nolint:gosec,noctx // the program under test; a signal ends it in order
	log, err := os.Create(filepath.Join(dir, "serve.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd.Stderr = log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &target{heap: residentOf(cmd.Process.Pid),
		how: "anonymous resident memory of the process, as it has no metrics listener"}
	if metricsAt != "" {
		t.heap, t.how = scraped("http://"+metricsAt+"/metrics"),
			"Go heap that lived after the last collection, from the metrics listener"
	}
	t.stop = func() error {
		if t.client != nil {
			t.client.Close()
		}
		return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if t.opening = time.Since(begin); err == nil {
		t.client, err = connect(line, workers)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("coffer serve (see serve.log): %w", err), t.stop())
	}
	return t, nil
}

// arguments are those of `coffer serve`, with a metrics listener when it has one.
func arguments(ctx context.Context, program, dir string) (args []string, metricsAt string, err error) {
	args = []string{"serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--json"}
	help, err := exec.CommandContext(ctx, program, "serve", "--help").Output() //nolint:gosec // the program under test
	if err != nil || !bytes.Contains(help, []byte("--metrics")) {
		return args, "", err
	}
	metricsAt, err = freePort(ctx)
	return append(args, "--metrics", metricsAt), metricsAt, err
}

func connect(line []byte, workers int) (*traffic.Client, error) {
	var said struct {
		BaseURL string `json:"baseUrl"`
		CAFile  string `json:"caFile"`
		APIKey  string `json:"apiKey"`
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return nil, err
	}
	transport, err := traffic.Trusting(said.CAFile, workers)
	if err != nil {
		return nil, err
	}
	return traffic.NewClient(said.BaseURL, said.APIKey, transport), nil
}

// program is what COFFER_BIN names, or one that is built now.
func program(ctx context.Context, dir string) (string, error) {
	if named := os.Getenv("COFFER_BIN"); named != "" {
		return named, nil
	}
	built := filepath.Join(dir, "coffer")
	build := exec.CommandContext(ctx, "go", "build", "-o", built, "coffer") //nolint:gosec // a path of our own
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return built, nil
}

func freePort(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// residentOf reads the anonymous memory of a process, which leaves out the mapped database file.
func residentOf(pid int) func(context.Context) (uint64, error) {
	return func(context.Context) (uint64, error) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return 0, err
		}
		kB, err := figure(raw, "RssAnon:")
		return uint64(kB) << 10, err
	}
}

// scraped reads the live heap from a metrics listener. A service that does not tell it tells the goal of the next
// collection, which by Go's default is twice what lived.
func scraped(url string) func(context.Context) (uint64, error) {
	return func(ctx context.Context) (uint64, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return 0, err
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			return 0, err
		}
		if live, err := figure(body.Bytes(), "go_gc_heap_live_bytes"); err == nil {
			return uint64(live), nil
		}
		goal, err := figure(body.Bytes(), "go_memstats_next_gc_bytes")
		return uint64(goal / 2), err
	}
}

// figure finds the number after a word at the beginning of a line.
func figure(text []byte, word string) (float64, error) {
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == word {
			return strconv.ParseFloat(f[1], 64)
		}
	}
	return 0, fmt.Errorf("no %s", word)
}
