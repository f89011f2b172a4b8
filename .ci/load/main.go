// Command load puts the service under load and prints what it bears: balances, prepare and the full flow to COMPLETED,
// each per second with p50 and p99, then a mixed soak during which the Go heap after collection is watched. It works on
// a store with funded accounts and records of history that it makes first, every commit synced, either in process or
// through `coffer serve` in a second process over TLS.
//
// It exits 1 when anything failed, or when the heap grew by more than a tenth between the second and the last tenth of
// the soak, without what the database keeps in memory for each page that it wrote and still uses. A soak of less than
// five minutes is not judged by its heap.
//
//	go run ./.ci/load -mode tls
//	go run ./.ci/load -mode inprocess -accounts 100 -records 1000 -phase 3s -duration 20s
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"coffer/api/service"
)

// options are the flags. Phase and duration are wall time.
type options struct {
	mode              string
	accounts, records int
	workers           int
	phase, duration   time.Duration
	store             string
	seed              uint64
}

func main() {
	var o options
	flag.StringVar(&o.mode, "mode", "inprocess",
		"inprocess, or tls for a second process behind TLS (COFFER_BIN names the program, else it is built)")
	flag.IntVar(&o.accounts, "accounts", 1000, "funded accounts of the store")
	flag.IntVar(&o.records, "records", 100_000, "records of history of the store")
	flag.IntVar(&o.workers, "workers", 8, "people at work at the same time")
	flag.DurationVar(&o.phase, "phase", 10*time.Second, "length of each single phase")
	flag.DurationVar(&o.duration, "duration", 10*time.Minute, "length of the soak; 0 leaves it out")
	flag.StringVar(&o.store, "store", "", "data directory, kept and used again (default: a temporary one)")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of people and amounts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stdout, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	if o.mode != "inprocess" && o.mode != "tls" || o.workers < 1 || o.accounts < 2*o.workers || o.records < 0 {
		return fmt.Errorf("-mode is inprocess or tls, and each of at least 1 -workers needs 2 -accounts")
	}
	dir := o.store
	if dir == "" {
		if dir, err = os.MkdirTemp("", "coffer-load"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	data := filepath.Join(dir, "data")
	people, err := seed(ctx, o, data, out)
	if err != nil {
		return fmt.Errorf("make the store: %w", err)
	}
	open := openInProcess
	if o.mode == "tls" {
		open = openServed
	}
	t, err := open(ctx, dir, o.workers)
	if err != nil {
		return err
	}
	t.database = filepath.Join(data, service.DatabaseFile)
	defer func() {
		if stopped := t.stop(); err == nil {
			err = stopped
		}
	}()
	size, err := os.Stat(t.database)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %d workers; store: %d accounts, %d records, %d MB; opened in %d ms\n",
		o.mode, o.workers, o.accounts, o.records, size.Size()>>20, t.opening.Milliseconds())
	crew := newCrew(o, t.client, people)
	failed := 0
	for _, p := range phases() {
		r := crew.run(ctx, p, o.phase)
		r.print(out, p.name)
		failed += r.failures()
	}
	grown, err := soak(ctx, o, t, crew, out)
	if err != nil {
		return err
	}
	if failed+grown.failed > 0 {
		return fmt.Errorf("%d requests failed", failed+grown.failed)
	}
	if o.duration >= judged && grown.percent > mayGrow {
		return fmt.Errorf("the heap grew by %.1f %%, at most %d %% are allowed", grown.percent, mayGrow)
	}
	return ctx.Err()
}
