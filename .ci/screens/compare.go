//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"coffer/ui/termtest"
)

// comparing measures two builds of the real program in turn, each in an empty home, so that what else the machine does
// meets both.
type comparing struct {
	before, now string // the programs
	runs        int    // of each, at each size
	presses     int
	idle        time.Duration
	seed        uint64
}

const up, down = "\x1b[A", "\x1b[B" // build takes letters as text

// measured are the figures of runs by their names, in the order of the first run.
type measured struct {
	names  []string
	values map[string][]float64
}

func (m *measured) add(name string, value float64) {
	if m.values == nil {
		m.values = map[string][]float64{}
	}
	if !slices.Contains(m.names, name) {
		m.names = append(m.names, name)
	}
	m.values[name] = append(m.values[name], value)
}

func (c comparing) run(ctx context.Context, out io.Writer) error {
	random := rand.New(rand.NewPCG(c.seed, 0)) //nolint:gosec // repeatable on purpose
	fmt.Fprintf(out, "seed %d, medians of %d runs\n", c.seed, c.runs)
	for _, size := range sizes {
		var before, now measured
		for i := range 2 * c.runs {
			program, m := c.before, &before
			if (i+i/2)%2 == 1 { // before, now, now, before
				program, m = c.now, &now
			}
			if err := c.once(ctx, random, m, program, size); err != nil {
				return fmt.Errorf("%s: %w", program, err)
			}
		}
		fmt.Fprintf(out, "%d×%d\n", size[0], size[1])
		for _, name := range now.names {
			a, b := median(before.values[name]), median(now.values[name])
			fmt.Fprintf(out, "  %-38s before %9.2f, now %9.2f, ratio %.2f\n", name, a, b, b/a)
		}
	}
	return nil
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// once measures one start of a program.
func (c comparing) once(ctx context.Context, random *rand.Rand, m *measured, program string, size [2]int) error {
	dir, err := os.MkdirTemp("", "coffer-screens")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.CommandContext(ctx, program) //nolint:gosec // the program that the person names
	cmd.Env = []string{"HOME=" + dir, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}
	term, err := termtest.Start(cmd, size[0], size[1])
	if err != nil {
		return err
	}
	defer term.Close()
	if err := term.WaitFor(patience, "EMBEDDED", "USDC", "$"); err != nil {
		return err
	}
	m.add("first frame, ms", float64(time.Since(term.Began()).Microseconds())/1000)
	if err := term.Still(quietLong, patience); err != nil {
		return err
	}
	bytes, _ := term.Written()
	m.add("first frame, bytes", float64(bytes))
	m.add("first frame, characters on the screen", float64(visible(term.Screen())))
	used, err := processorOf(term.Process().Pid)
	if err != nil {
		return err
	}
	m.add("first frame, ms of processor", used)
	b := &bench{Terminal: term, random: random}
	for _, s := range []struct {
		name string
		open []string
		keys []string
		each bool // a figure for each key
	}{
		{"balances", nil, []string{"j", "j", "k", "k"}, false},
		{"to screen", nil, []string{"4", "1", "6", "1"}, true},
		{"build", []string{"2", "d"}, []string{down, down, up, up}, false},
	} {
		for _, key := range s.open {
			if _, err := b.press(key, quietLong); err != nil {
				return err
			}
		}
		from, err := processorOf(term.Process().Pid)
		if err != nil {
			return err
		}
		for i := range c.presses {
			key, name := s.keys[i%len(s.keys)], s.name
			if s.each { // a screen with much on it is not the middle of others
				name += " " + key
			}
			f, err := b.press(key, quiet)
			if err != nil {
				return err
			}
			if f.bytes > 0 {
				m.add(name+", bytes a key", float64(f.bytes))
				m.add(name+", ms to the first byte", float64(f.first.Microseconds())/1000)
			}
		}
		to, err := processorOf(term.Process().Pid)
		if err != nil {
			return err
		}
		m.add(s.name+", ms of processor a key", (to-from)/float64(c.presses)) // other work does not change it as much
	}
	return errors.Join(term.Still(time.Second, patience), c.rests(m, term))
}

// visible counts what is on a screen, without blanks.
func visible(screen string) int {
	return utf8.RuneCountInString(strings.Join(strings.Fields(screen), ""))
}

// processorOf is the processor time of a process in milliseconds, as precisely as Linux knows it.
func processorOf(pid int) (ms float64, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) { // a thread that ended meanwhile
			continue
		}
		var ns float64
		if _, bad := fmt.Sscan(string(raw), &ns); err != nil || bad != nil {
			return 0, errors.Join(err, bad)
		}
		ms += ns / 1e6
	}
	return ms, err
}

// rests watches a program that no one touches.
func (c comparing) rests(m *measured, term *termtest.Terminal) error {
	from, err := processorOf(term.Process().Pid)
	bytes, _ := term.Written()
	time.Sleep(c.idle)
	to, other := processorOf(term.Process().Pid)
	written, _ := term.Written()
	m.add("idle, bytes a second", float64(written-bytes)/c.idle.Seconds())
	m.add("idle, % of a processor", (to-from)/10/c.idle.Seconds())
	return errors.Join(err, other)
}
