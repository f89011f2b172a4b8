package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/metrics"
	"strconv"
	"syscall"
	"time"

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
	//nolint:gosec,noctx // the program under test; a signal ends it in order
	cmd := exec.Command(program, "serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--metrics",
		"127.0.0.1:0", "--json")
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
	t := &target{how: "Go heap that lived after the last collection, from the metrics listener"}
	t.stop = func() error {
		if t.client != nil {
			t.client.Close()
		}
		return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if t.opening = time.Since(begin); err == nil {
		var at traffic.Served
		t.client, at, err = traffic.Connect(line, workers)
		t.heap = scraped(at.MetricsURL)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("coffer serve (see serve.log): %w", err), t.stop())
	}
	return t, nil
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

// scraped reads the live heap from a metrics listener.
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
		text, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			return 0, err
		}
		live := regexp.MustCompile(`(?m)^go_gc_heap_live_bytes (\S+)$`).FindSubmatch(text)
		if live == nil {
			return 0, errors.New("the metrics do not tell the live heap")
		}
		bytes, err := strconv.ParseFloat(string(live[1]), 64)
		return uint64(bytes), err
	}
}
