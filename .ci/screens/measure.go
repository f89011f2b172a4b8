//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
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
}

// bench is a dashboard under measurement.
type bench struct {
	*termtest.Terminal
	told *bufio.Reader
	end  func()
}

// frame is what one key led to.
type frame struct {
	took  time.Duration // from the key to the last byte of what it changed
	bytes int
}

func (m measuring) run(ctx context.Context, out io.Writer) error {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
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
	b := &bench{Terminal: term, told: bufio.NewReader(r), end: func() { term.Close(); _ = r.Close() }}
	if err := b.WaitFor(patience, "Balances", "TOK", "$"); err != nil {
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

// press presses one key and waits until the screen holds still again.
func (b *bench) press(key string) (frame, error) {
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
	if err := b.Still(25*time.Millisecond, patience); err != nil {
		return frame{}, err
	}
	after, last := b.Written()
	return frame{took: last.Sub(began), bytes: after - before}, nil
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
	for _, s := range []struct {
		name, open string
		keys       []string
	}{
		{"balances", "1", []string{"j", "j", "j", "k"}},
		{"balances, expanding", "1", []string{"\r", "\r"}},
		{"balances, filter", "1/", []string{"u", "s", "\x7f", "\x7f"}},
		{"build", "\x1b2d", []string{"j", "j", "k"}},
		{"history", "4", []string{"j", "j", "j", "k"}},
		{"history, page", "4", []string{"\x1b[6~"}},
		{"activity", "3", []string{"o"}},
		{"lab", "5", []string{"j", "j", "k"}},
		{"accounts", "6", []string{"j", "k"}},
		{"settings", "6o", []string{"j", "j", "k"}},
		{"wire", "\x1b1W", []string{"k", "k", "j"}},
		{"palette", "\x1b1:", []string{"b", "\x7f"}},
	} {
		for _, key := range s.open {
			if _, err := b.press(string(key)); err != nil {
				return err
			}
		}
		if err := b.Still(300*time.Millisecond, patience); err != nil {
			return err
		}
		var frames []frame
		for i := range m.presses {
			f, err := b.press(s.keys[i%len(s.keys)])
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
		b := &bench{Terminal: w.term}
		for i := range m.presses / 4 {
			f, err := b.press([]string{"k", "j"}[i%2])
			if err != nil {
				return err
			}
			if f.bytes > 0 && f.took < 200*time.Millisecond { // a longer one was the countdown's
				frames = append(frames, f)
			}
			if i >= 4 && len(frames) < 3 {
				break
			}
		}
		report(out, name, frames)
		if name == "review 1" {
			w.types("y")
			w.sees("Review 2 of 2", "You pay")
		}
	}
	return w.err
}

func report(out io.Writer, name string, frames []frame) {
	if len(frames) < 3 {
		fmt.Fprintf(out, "  %-22s all of it is on the screen, no key changes anything\n", name)
		return
	}
	bytes := 0
	for _, f := range frames {
		bytes += f.bytes
	}
	slices.SortFunc(frames, func(a, b frame) int { return int(a.took - b.took) })
	at := func(p int) time.Duration { return frames[(len(frames)-1)*p/100].took.Round(100 * time.Microsecond) }
	fmt.Fprintf(out, "  %-22s key to frame p50 %s, p99 %s, %d bytes a key\n", name, at(50), at(99), bytes/len(frames))
}

// whileIdle watches a dashboard that nobody touches; only the age of the data changes.
func (m measuring) whileIdle(ctx context.Context, out io.Writer) error {
	b, _, err := m.begin(ctx, 80, 24)
	if err != nil {
		return err
	}
	defer b.end()
	before, err := b.facts()
	if err != nil {
		return err
	}
	bytes, _ := b.Written()
	time.Sleep(m.idle)
	after, err := b.facts()
	if err != nil {
		return err
	}
	written, _ := b.Written()
	fmt.Fprintf(out, "idle for %s: %d bytes, %s of processor time (%.2f %%)\n", m.idle, written-bytes,
		(after.CPU - before.CPU).Round(time.Millisecond),
		100*float64(after.CPU-before.CPU)/float64(m.idle))
	return nil
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
