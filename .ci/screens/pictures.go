//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"coffer/ui/termtest"
)

// patience bounds each wait for the screen.
const patience = time.Minute

// sizes are those of the pictures, in cells.
var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

// walker walks through the demo and takes pictures, or films it.
type walker struct {
	term *termtest.Terminal
	out  string
	film *recording // nil: nothing is filmed
	err  error
}

// pictures walks from an empty home to a completed call, and to the other screens. It takes pictures of each screen in
// every size, and films the way to the completed call.
func pictures(ctx context.Context, out string) error {
	if err := os.MkdirAll(out, 0o750); err != nil { //nolint:gosec // the directory that the person names
		return err
	}
	for _, films := range []bool{true, false} {
		w, done, err := atDemo(ctx, sizes[0][0], sizes[0][1])
		if err != nil {
			return err
		}
		w.out = out
		if films {
			w.filmed()
		} else {
			w.walk()
		}
		done()
		if w.err != nil {
			return w.err
		}
	}
	return nil
}

// atDemo starts the real program in an empty home.
func atDemo(ctx context.Context, cols, rows int) (w *walker, done func(), err error) {
	dir, err := os.MkdirTemp("", "coffer-screens")
	if err != nil {
		return nil, nil, err
	}
	clean := func() { _ = os.RemoveAll(dir) }
	program := filepath.Join(dir, "coffer")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".") //nolint:gosec // into a directory of its own
	if text, err := build.CombinedOutput(); err != nil {
		clean()
		return nil, nil, fmt.Errorf("build: %w\n%s", err, text)
	}
	cmd := exec.CommandContext(ctx, program) //nolint:gosec // the program that was just built
	cmd.Env = []string{"HOME=" + dir, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}
	term, err := termtest.Start(cmd, cols, rows)
	if err != nil {
		clean()
		return nil, nil, err
	}
	return &walker{term: term}, func() { term.Close(); clean() }, nil
}

// toReview1 builds the trial call and asks for its review.
func (w *walker) toReview1() {
	w.sees("EMBEDDED", "USDC", "$")
	w.types("2")
	w.sees("trial call")
	w.types("d")
	w.sees("elsewhere")
	w.types("r")
	w.sees("Review 1 of 2", "y sign")
}

// filmed goes from the first start to the completed call.
func (w *walker) filmed() {
	const look, read, key = 1500 * time.Millisecond, 4 * time.Second, 250 * time.Millisecond
	w.film = &recording{}
	w.sees("EMBEDDED", "USDC", "$")
	w.shows(read)
	w.types("2")
	w.sees("trial call")
	w.shows(look)
	w.types("d")
	w.sees("elsewhere")
	w.shows(read)
	w.types("\r")
	w.sees("Review 1 of 2", "y sign")
	w.shows(read)
	w.reads()
	w.types("y")
	w.sees("Review 2 of 2")
	w.shows(read)
	w.reads()
	for _, digit := range w.finds(toType) {
		w.types(string(digit))
		w.shows(key)
	}
	w.types("\r")
	w.sees("COMPLETED")
	w.shows(read)
	if w.err == nil {
		w.write("demo", w.film.picture())
	}
	w.types("qq")
}

// toType is what review 2 asks to be typed.
const toType = `ype ([0-9.]+) `

func (w *walker) walk() {
	w.sees("EMBEDDED", "USDC", "$")
	w.types("j")
	w.pictures("balances")
	w.types("r")
	w.sees("Receive", "Send to it")
	w.pictures("receive")
	w.types("\x1b")
	w.sees("b build")
	w.types("2")
	w.sees("trial call")
	w.types("d")
	w.sees("elsewhere")
	w.pictures("build")
	w.types("5")
	w.sees("›5 Lab")
	w.types("r")
	if w.err == nil {
		w.err = w.term.WaitUntil("every variant to be asked", patience,
			func(screen string) bool { return !strings.Contains(screen, "not asked") })
	}
	w.pictures("lab")
	w.types("2")
	w.sees("needs")
	w.types("r")
	w.sees("Review 1 of 2", "y sign")
	w.pictures("review-1")
	w.reads()
	w.types("y")
	w.sees("Review 2 of 2")
	w.pictures("review-2")
	w.reads()
	w.types(w.finds(toType) + "\r")
	w.sees("COMPLETED")
	w.pictures("activity")
	w.types("4")
	w.sees("completed")
	w.pictures("history")
	w.types("6")
	w.sees("›6 Accounts")
	w.pictures("accounts")
	w.types(",")
	w.sees("Settings")
	w.pictures("settings")
	w.types("\x1b")
	w.sees("›6 Accounts", "copy address")
	w.types("?")
	w.pictures("keys")
	w.types("?")
	w.types(":")
	w.pictures("palette")
	w.types("\x03\x03")
}

func (w *walker) sees(texts ...string) {
	if w.err == nil {
		w.err = w.term.WaitFor(patience, texts...)
	}
}

func (w *walker) types(keys string) {
	if w.err == nil {
		w.err = w.term.Type(keys)
	}
}

func (w *walker) finds(pattern string) (found string) {
	if w.err == nil {
		found, w.err = w.term.Find(patience, pattern)
	}
	return found
}

// reads scrolls to the end of a review and lets its countdown move twice.
func (w *walker) reads() {
	if w.err == nil {
		w.err = w.term.ReadReview(patience, `(?:closes|expires|renews) in (\d+:\d\d)`)
	}
}

// shows adds the screen to the film.
func (w *walker) shows(hold time.Duration) {
	if s := w.takes(); w.err == nil {
		w.film.add(s, hold)
	}
}

// pictures writes the screen in every size.
func (w *walker) pictures(name string) {
	for _, size := range sizes {
		w.resizes(size)
		if s := w.takes(); w.err == nil {
			w.write(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), picture(s))
		}
	}
	w.resizes(sizes[0])
}

func (w *walker) resizes(size [2]int) {
	if w.err == nil {
		w.err = w.term.Resize(size[0], size[1])
	}
}

// takes waits until the screen holds still and takes it on both backgrounds; a countdown may move between them, so it
// tries again.
func (w *walker) takes() (s shot) {
	const tries = 10
	for range tries {
		s.dark, s.light = w.cells("0000/0000/0000"), w.cells("ffff/ffff/ffff")
		if w.cells("0000/0000/0000"); w.err != nil || s.same() {
			return s
		}
	}
	w.err = errors.New("the screen does not hold still:\n" + w.term.Screen())
	return s
}

// cells reports a background to the program, as the terminal would, and returns the screen once it holds still.
func (w *walker) cells(background string) [][]termtest.Cell {
	w.types("\x1b]11;rgb:" + background + "\x07")
	if w.err == nil {
		w.err = w.term.Still(200*time.Millisecond, patience)
	}
	return w.term.Cells()
}

func (w *walker) write(name string, data []byte) {
	w.err = os.WriteFile(filepath.Join(w.out, name+".svg"), data, 0o600)
	fmt.Fprintln(os.Stderr, "  "+name, strings.Repeat(".", max(0, 24-len(name))), len(data), "bytes")
}
