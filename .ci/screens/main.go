//go:build unix

// Command screens looks at the dashboard from outside, through a pseudo-terminal.
//
//	go run ./.ci/screens pictures   # walks the demo and writes docs/pictures/*.svg
//	go run ./.ci/screens compare -before OLD -now NEW   # two builds of the program in turn, medians and ratios
//	go run ./.ci/screens measure    # first frame, first byte and bytes of a key, idle bytes and processor, memory
//
// The pictures are of the real program on its embedded service. Measured is the same dashboard on made-up answers of
// 200 assets and 1 000 000 records of history: a second process of this program, so that nothing of the measuring is
// measured.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	what := ""
	if len(args) > 0 {
		what, args = args[0], args[1:]
	}
	f := flag.NewFlagSet("screens "+what, flag.ContinueOnError)
	switch what {
	case "pictures":
		out := f.String("out", "docs/pictures", "directory of the pictures")
		if err := f.Parse(args); err != nil {
			return err
		}
		return pictures(ctx, *out)
	case "measure":
		m := measuring{}
		f.IntVar(&m.presses, "presses", 200, "keys pressed on each screen")
		f.DurationVar(&m.idle, "idle", 20*time.Second, "how long an idle dashboard is watched")
		f.IntVar(&m.scroll, "scroll", 100_000, "records to scroll through")
		f.Uint64Var(&m.seed, "seed", 1, "of the random waits before keys")
		if err := f.Parse(args); err != nil {
			return err
		}
		return m.run(ctx, os.Stdout)
	case "compare":
		c := comparing{}
		f.StringVar(&c.before, "before", "", "the older program")
		f.StringVar(&c.now, "now", "", "the newer program")
		f.IntVar(&c.runs, "runs", 10, "starts of each program at each size")
		f.IntVar(&c.presses, "presses", 12, "keys pressed on each screen")
		f.DurationVar(&c.idle, "idle", 5*time.Second, "how long an idle dashboard is watched")
		f.Uint64Var(&c.seed, "seed", 1, "of the random waits before keys")
		if err := f.Parse(args); err != nil {
			return err
		}
		return c.run(ctx, os.Stdout)
	case "subject":
		return subject(ctx)
	}
	return fmt.Errorf("say what: pictures, measure or compare")
}
