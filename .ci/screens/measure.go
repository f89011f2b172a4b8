//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"coffer/ui/termtest"
)

// measuring says how much to measure.
type measuring struct {
	presses int
	idle    time.Duration
	scroll  int
	seed    uint64
	random  *rand.Rand // of the waits before keys
}

// bench is a dashboard under measurement.
type bench struct {
	*termtest.Terminal
	random *rand.Rand
	told   *bufio.Reader
	end    func()
}

// frame is what one key led to.
type frame struct {
	first time.Duration // from the key to the first byte of what it changed
	bytes int
}

// Waits around keys.
const (
	quiet      = 25 * time.Millisecond  // without a byte: what a key changed is there
	quietLong  = 200 * time.Millisecond // and what follows when no other key comes
	randomWait = 33 * time.Millisecond  // two ticks of the screen library and the time of half a frame
)

func (m measuring) run(ctx context.Context, out io.Writer) error {
	m.random = rand.New(rand.NewPCG(m.seed, 0)) //nolint:gosec // repeatable on purpose
	fmt.Fprintf(out, "seed %d\n", m.seed)
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		if err := m.keys(ctx, out, size[0], size[1]); err != nil {
			return err
		}
	}
	if err := m.whileIdle(ctx, out); err != nil {
		return err
	}
	return m.scrolling(ctx, out)
}

// begin starts the subject and waits for its first whole frame.
func (m measuring) begin(ctx context.Context, cols, rows int) (*bench, time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	cmd := exec.CommandContext(ctx, self, "subject") //nolint:gosec // this program itself
	cmd.Env = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "HOME=" + os.TempDir()}
	cmd.ExtraFiles = []*os.File{w}
	term, err := termtest.Start(cmd, cols, rows)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, 0, errors.Join(err, r.Close())
	}
	b := &bench{Terminal: term, random: m.random, told: bufio.NewReader(r), end: func() { term.Close(); _ = r.Close() }}
	if err := b.WaitFor(patience, "Balances", strconv.Itoa(manyAssets)+" assets", "$"); err != nil {
		b.end()
		return nil, 0, err
	}
	first := time.Since(b.Began())
	return b, first, b.Still(300*time.Millisecond, patience)
}

// facts asks the subject about itself.
func (b *bench) facts() (facts, error) {
	var f facts
	if err := b.Process().Signal(syscall.SIGUSR1); err != nil {
		return f, err
	}
	line, err := b.told.ReadBytes('\n')
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(line, &f)
}

// press presses one key and waits until the screen holds still again. The screen library draws on a ticker, and a key
// pressed a fixed time after a frame would always meet the ticker at the same place: the wait before it is random.
func (b *bench) press(key string, quiet time.Duration) (frame, error) {
	time.Sleep(time.Duration(b.random.Int64N(int64(randomWait))))
	before, _ := b.Written()
	began := time.Now()
	if err := b.Type(key); err != nil {
		return frame{}, err
	}
	if err := b.WaitWritten(before, time.Second); errors.Is(err, termtest.ErrTimeout) {
		return frame{}, nil // nothing changed
	} else if err != nil {
		return frame{}, err
	}
	first := b.Passed(before).Sub(began)
	if err := b.Still(quiet, patience); err != nil {
		return frame{}, err
	}
	after, _ := b.Written()
	return frame{first: first, bytes: after - before}, nil
}

// keys measures moving around on each screen.
func (m measuring) keys(ctx context.Context, out io.Writer, cols, rows int) error {
	b, first, err := m.begin(ctx, cols, rows)
	if err != nil {
		return err
	}
	defer b.end()
	fmt.Fprintf(out, "%d×%d: first frame with %d assets after %s\n", cols, rows, manyAssets,
		first.Round(time.Millisecond))
	down := strings.Repeat("j", rows) // to the last line of the window
	for _, s := range []struct {
		name, open string
		keys       []string
		quiet      time.Duration
	}{
		{"balances", "1", []string{"j", "j", "k", "k"}, quiet},
		{"balances, scrolling", "1" + down, []string{"j"}, quiet},
		{"balances, expanding", "1g", []string{"\r", "\r"}, quiet},
		{"balances, filter", "1/", []string{"u", "s", "\x7f", "\x7f"}, quiet},
		{"build", "\x1b2d", []string{"j", "j", "k"}, quiet},
		{"history", "4", []string{"j", "j", "k", "k"}, quiet},
		{"history, with details", "4", []string{"j", "j", "k", "k"}, quietLong},
		{"history, scrolling", "4" + down, []string{"j"}, quiet},
		{"history, page", "4g", []string{"\x1b[6~"}, quiet},
		{"activity", "3", []string{"o"}, quiet},
		{"lab", "5", []string{"j", "j", "k"}, quiet},
		{"accounts", "6", []string{"j", "k"}, quiet},
		{"settings", "6o", []string{"j", "j", "k"}, quiet},
		{"wire", "\x1b1W", []string{"k", "k", "j"}, quiet},
		{"palette", "\x1b1:", []string{"b", "\x7f"}, quiet},
	} {
		for _, key := range s.open {
			if _, err := b.press(string(key), quiet); err != nil {
				return err
			}
		}
		if err := b.Still(300*time.Millisecond, patience); err != nil {
			return err
		}
		var frames []frame
		for i := range m.presses {
			f, err := b.press(s.keys[i%len(s.keys)], s.quiet)
			if err != nil {
				return err
			}
			if f.bytes > 0 {
				frames = append(frames, f)
			}
		}
		report(out, s.name, frames)
	}
	return m.reviews(ctx, out, cols, rows)
}

// reviews measures scrolling in both reviews of the trial call, in the real program.
func (m measuring) reviews(ctx context.Context, out io.Writer, cols, rows int) error {
	w, done, err := atDemo(ctx, cols, rows)
	if err != nil {
		return err
	}
	defer done()
	w.toReview1()
	for _, name := range []string{"review 1", "review 2"} {
		w.reads()
		if w.err != nil {
			return w.err
		}
		var frames []frame
		b := &bench{Terminal: w.term, random: m.random}
		for i := range m.presses / 4 {
			f, err := b.press([]string{"k", "j"}[i%2], quiet)
			if err != nil {
				return err
			}
			if f.bytes > 0 && f.first < 200*time.Millisecond { // a longer one was the countdown's
				frames = append(frames, f)
			}
			if i >= 4 && len(frames) < 3 {
				break
			}
		}
		report(out, name, frames)
		if name == "review 1" {
			w.types("y")
			w.sees("Review 2 of 2", "Arrives")
		}
	}
	return w.err
}

func report(out io.Writer, name string, frames []frame) {
	if len(frames) < 3 {
		fmt.Fprintf(out, "  %-22s all of it is on the screen, no key changes anything\n", name)
		return
	}
	bytes, most := 0, 0
	for _, f := range frames {
		bytes, most = bytes+f.bytes, max(most, f.bytes)
	}
	slices.SortFunc(frames, func(a, b frame) int { return int(a.first - b.first) })
	at := func(p int) time.Duration { return frames[(len(frames)-1)*p/100].first.Round(100 * time.Microsecond) }
	fmt.Fprintf(out, "  %-22s key to first byte p50 %s, p99 %s; %d bytes a key, at most %d\n", name, at(50), at(99),
		bytes/len(frames), most)
}

// whileIdle watches dashboards that nobody touches: the one on made-up answers, where nothing that is shown changes,
// and the real program, whose embedded network moves its prices.
func (m measuring) whileIdle(ctx context.Context, out io.Writer) error {
	b, _, err := m.begin(ctx, 120, 40)
	if err != nil {
		return err
	}
	defer b.end()
	if err := m.watch(out, "idle on made-up answers", b.Terminal); err != nil {
		return err
	}
	w, done, err := atDemo(ctx, 120, 40)
	if err != nil {
		return err
	}
	defer done()
	w.sees("EMBEDDED", "USDC", "$")
	for _, s := range []struct{ name, keys string }{{"balances", "1"}, {"activity", "3"}, {"history", "4"},
		{"accounts", "6"}, {"settings", "o"}} {
		if w.types(s.keys); w.err != nil {
			return w.err
		}
		if err := m.watch(out, "the real program idle, "+s.name, w.term); err != nil {
			return err
		}
	}
	return nil
}

// watch reports what a program writes and takes while nobody touches it.
func (m measuring) watch(out io.Writer, name string, term *termtest.Terminal) error {
	if err := term.Still(time.Second, patience); err != nil {
		return err
	}
	before, err := processor(term.Process().Pid)
	if err != nil {
		return err
	}
	bytes, _ := term.Written()
	time.Sleep(m.idle)
	after, err := processor(term.Process().Pid)
	written, _ := term.Written()
	fmt.Fprintf(out, "%s for %s: %d bytes, %.2f %% of a processor\n", name, m.idle, written-bytes,
		100*float64(after-before)/float64(m.idle))
	return err
}

// processor is the processor time that a process has taken, as Linux counts it: in hundredths of a second.
func processor(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, counts, _ := strings.Cut(string(b), ") ") // behind the name
	var ticks [2]int64
	for i, f := range strings.Fields(counts)[11:13] {
		if ticks[i], err = strconv.ParseInt(f, 10, 64); err != nil {
			return 0, err
		}
	}
	return time.Duration(ticks[0]+ticks[1]) * 10 * time.Millisecond, nil
}

// scrolling goes down through the history and compares what lives in memory.
func (m measuring) scrolling(ctx context.Context, out io.Writer) error {
	b, _, err := m.begin(ctx, 120, 40)
	if err != nil {
		return err
	}
	defer b.end()
	if err := b.Type("4"); err != nil {
		return err
	}
	if err := b.WaitFor(patience, "loaded"); err != nil {
		return err
	}
	began, next := time.Now(), m.scroll/10
	for {
		f, err := b.facts()
		if err != nil {
			return err
		}
		if int(f.Records) >= next {
			fmt.Fprintf(out, "scrolled through %d records of %d: %.1f MB live, %s so far\n", f.Records, manyRecords,
				float64(f.Heap)/1e6, time.Since(began).Round(time.Second))
			if next += m.scroll / 10; next > m.scroll {
				return nil
			}
		}
		if err := b.Type(strings.Repeat("G", 4) + "m"); err != nil {
			return err
		}
		if err := b.Still(20*time.Millisecond, patience); err != nil {
			return err
		}
	}
}
